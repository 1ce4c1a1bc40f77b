"""Search on the page Explore: a typed text or an item of the project, and its nearest texts."""

from functools import partial

import streamlit as st

from allpairs.annotate.features.explore import search as searching
from allpairs.annotate.features.explore.ui.round import cost
from allpairs.annotate.features.label.ui.pair_view import pair_rows, why_so
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.jobs import prepared
from allpairs.annotate.kit.jobs.open_jobs import job_progress
from allpairs.annotate.kit.jobs.prepared import ExploredRound
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.text.measures import score_in_words
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Kind
from allpairs.db.projects.items import LONGEST_SEARCH
from allpairs.db.results.job_results import Search, search_path
from allpairs.db.results.result_file import read_result

MOST_HITS = 20  # hits of a search
TYPED = "New text"
ITEM = "Text of the project"


def search_view(project_id: int, round_: ExploredRound) -> None:
    """Draw the search, which needs no preparation."""
    kind = prepared.kind_of(engine(), project_id)
    search_kind = st.segmented_control(
        "Search for", [TYPED, ITEM], default=TYPED, required=True, key="search_how", persist_state="session"
    )
    if search_kind == TYPED:
        _typed(project_id, round_, kind)
    else:
        _of_project(project_id, round_)
    job_id = st.session_state.get(_key(project_id))
    if job_id is None:
        st.caption(f"{round_name(round_.matcher.number)}. {cost(round_)}")
        return
    watch(
        partial(job_progress, engine(), project_id, job_id), "Searching: ", partial(_result, project_id, kind, job_id)
    )


def _key(project_id: int) -> str:
    """Return the session key that remembers the search on the page."""
    return f"search_{project_id}"


def _typed(project_id: int, round_: ExploredRound, kind: Kind) -> None:
    text = st.text_area("Text", key="search_text", height=80, max_chars=searching.LONGEST, persist_state=DRAFT)
    side = "Right list"
    if kind == Kind.BIPARTITE:
        side = st.radio("Nearest texts of the", ["Right list", "Left list"], horizontal=True, key="search_side")
    if not st.button("Search", key="search_text_ask", icon=":material/search:", type="primary"):
        return
    with told():
        job_id = searching.request_text_search(
            engine(), project_id, round_.matcher.number, text, of_left=side == "Right list"
        )
        st.session_state[_key(project_id)] = job_id


def _of_project(project_id: int, round_: ExploredRound) -> None:
    """Draw a field for words, and a button for each text that contains them."""
    words = st.text_input("Words in the text", key="search_words", max_chars=LONGEST_SEARCH, persist_state="session")
    items = searching.items_by_words(engine(), project_id, words)
    if words.strip() and not items:
        st.caption("No text of the project contains all these words.")
    with st.container(key="search_items", gap="xsmall"):
        for item in items:
            arguments = (project_id, round_.matcher.number, item.id)
            st.button(
                literal(beginning(item.text)),
                key=f"search_item_{item.id}",
                type="tertiary",
                on_click=_ask_item,
                args=arguments,
                icon=":material/search:",
            )
    if len(items) == searching.MOST_ITEMS:
        st.caption(f"These are the first {searching.MOST_ITEMS} texts. Add words to narrow the search.")


def _ask_item(project_id: int, number: int, item_id: int) -> None:
    st.session_state[_key(project_id)] = searching.request_item_search(engine(), project_id, number, item_id)


def _result(project_id: int, kind: Kind, job_id: str) -> None:
    search = read_result(search_path(project_id, job_id), Search)
    if search is not None:
        _show(project_id, kind, search)


def _show(project_id: int, kind: Kind, search: Search) -> None:
    """Draw the query and its nearest texts."""
    name = round_name(search.number)
    st.markdown(f"**Nearest to “{literal(beginning(search.text))}”**, {name[0].lower()}{name[1:]}")
    if not search.hits:
        st.info("There is no other text to compare with.", icon=":material/inbox:")
    if search.number == 0:
        st.caption("No model is trained yet: the encoder's similarity alone decides which texts are near.")
    if search.item_id is None:
        st.caption("A new text cannot be labelled. To label pairs, search for a text of the project.")
    nearest = searching.nearest_items(engine(), project_id, kind, search, slice(MOST_HITS))
    pair_rows(project_id, [(near.pair, "") for near in nearest if near.pair is not None])
    for near in nearest:
        if near.pair is None:
            _near(near)


def _near(near: searching.NearItem) -> None:
    with st.container(border=True):
        st.markdown(literal(beginning(near.text)))
        st.caption(score_in_words(near.score, near.p))
        why_so(near.reason)
