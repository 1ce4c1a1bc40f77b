"""The round's worst mistakes among pairs with a known answer, on the page Explore."""

import streamlit as st

from allpairs.annotate.features.explore import compare as mistakes
from allpairs.annotate.features.explore.ui.matches import paged
from allpairs.annotate.features.label.ui.pair_view import pair_rows
from allpairs.annotate.features.quality.rounds import threshold
from allpairs.annotate.kit.jobs.prepared import Round, known_pairs, shown_pairs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.state import engine

SHOWN = 10
CONFIDENT = "Confident mistakes"
MISSED = "Missed positives"
WHAT = {
    CONFIDENT: "Known negatives, starting with those that the model is surest are matches.",
    MISSED: "Known positives, starting with those that the model finds least likely.",
}
HOW = "Label pairs on the page “Label”, or import labels on the page “Export”."
NONE = {
    CONFIDENT: f"No pair is known to be a non-match yet. {HOW}",
    MISSED: f"No pair is known to be a match yet. {HOW}",
}


@st.fragment
def mistakes_view(project_id: int, found: Round) -> None:
    """Draw the pairs that the round gets most wrong."""
    known = known_pairs(found)
    which = st.segmented_control(
        "Mistakes",
        list(WHAT),
        default=CONFIDENT,
        required=True,
        key="mistakes",
        label_visibility="collapsed",
        persist_state="session",
    )
    scored = mistakes.confident_mistakes(known) if which == CONFIDENT else mistakes.missed_positives(known)
    if not len(scored):
        st.info(NONE[which], icon=":material/inbox:")
        return
    at = threshold(found.matcher)
    st.caption(f"{WHAT[which]} {'' if at is None else _share(which, mistakes.wrong_above(scored, at), len(scored))}")
    page = paged(len(scored), f"mistakes_page_{which}_{found.folder.name}", SHOWN, "worst first")
    part = scored.take(slice(page * SHOWN, (page + 1) * SHOWN))
    pair_rows(project_id, [(pair, "") for pair in shown_pairs(engine(), found.matcher, part)])


def _share(which: str, above: int, of: int) -> str:
    """Return how many of the pairs lie on the wrong side of p = 1/2, in words."""
    if which == CONFIDENT:
        return f"{above:,} of {counted(of, 'pair')} have p ≥ ½."
    return f"{of - above:,} of {counted(of, 'pair')} have p < ½."
