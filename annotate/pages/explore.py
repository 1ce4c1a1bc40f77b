"""What a model says about all pairs: search, matches, groups, mistakes, and the difference between two rounds."""

from collections.abc import Callable

import streamlit as st

from allpairs.annotate.features.explore.ui.compare import compare_view
from allpairs.annotate.features.explore.ui.matches import matches_view
from allpairs.annotate.features.explore.ui.mistakes import mistakes_view
from allpairs.annotate.features.explore.ui.round import choose_round, preparation, start_preparation
from allpairs.annotate.features.explore.ui.search import search_view
from allpairs.annotate.features.groups.ui.groups import groups_view
from allpairs.annotate.kit.jobs import prepared
from allpairs.annotate.kit.jobs.prepared import ExploredRound
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.state import current_project, engine

NONE_YET = "There is no model yet. The first one comes with the first batch: see the page “Overview”."
SEARCH = "Search"
COMPARE = "Compare"
VIEWS: dict[str, Callable[[int, ExploredRound], None]] = {
    SEARCH: search_view,
    "Matches": matches_view,
    "Groups": groups_view,
    "Mistakes": mistakes_view,
    COMPARE: compare_view,
}


def main() -> None:
    """Draw the page."""
    st.title("Explore", anchor=False)
    project = current_project(engine())
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.", icon=":material/add:")
        return
    st.caption(literal(project.name))
    rounds = prepared.rounds_of(engine(), project.id)
    if not rounds:
        st.info(NONE_YET, icon=":material/hourglass:")
        return
    view = st.segmented_control(
        "What to explore",
        list(VIEWS),
        default=next(iter(VIEWS)),
        required=True,
        key="explore_view",
        label_visibility="collapsed",
        persist_state="session",
    )
    chosen = choose_round(project.id, rounds)
    start_preparation(chosen)
    if view not in (SEARCH, COMPARE):  # one needs no prepared round, the other two
        preparation(project.id, chosen)
        if chosen.exploration is None:
            return
    VIEWS[view](project.id, chosen)


main()
