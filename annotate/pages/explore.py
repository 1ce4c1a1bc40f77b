"""What a model makes of all pairs: search, matches, groups, mistakes, the difference between two rounds."""

from collections.abc import Callable

import streamlit as st

from annotate import exploring
from annotate.app_state import current_project, engine
from annotate.components.explore_compare import compare_view
from annotate.components.explore_groups import groups_view
from annotate.components.explore_matches import matches_view
from annotate.components.explore_mistakes import mistakes_view
from annotate.components.explore_round import choose_round, preparation
from annotate.components.explore_search import search_view
from annotate.exploring import Round
from annotate.wording import literal

NONE_YET = "There is no model yet. The first one is measured when the first batch is made: see the page “Jobs”."
SEARCH = "Search"
VIEWS: dict[str, Callable[[int, Round], None]] = {  # all but the search show what is prepared
    SEARCH: search_view,
    "Matches": matches_view,
    "Groups": groups_view,
    "Mistakes": mistakes_view,
    "Compare": compare_view,
}


def main() -> None:
    """Nothing; draws the page."""
    st.title("Explore", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Make one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    rounds = exploring.rounds_of(engine(), project.id)
    if not rounds:
        st.info(NONE_YET, icon=":material/hourglass:")
        return
    view = st.segmented_control(
        "What to explore", list(VIEWS), default=next(iter(VIEWS)), required=True, key="explore_view",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    chosen = choose_round(project.id, rounds)
    if view != SEARCH:
        preparation(project.id, chosen)
    if view == SEARCH or chosen.exploration is not None:
        VIEWS[view](project.id, chosen)


main()
