"""The round's worst mistakes among pairs with a known answer, on the page Explore."""

import streamlit as st

from allpairs.annotate.features.explore import compare as mistakes
from allpairs.annotate.features.explore.ui.matches import paged
from allpairs.annotate.features.label.ui.pair_view import pair_rows
from allpairs.annotate.features.quality.rounds import threshold
from allpairs.annotate.kit.jobs.prepared import ExploredRound, known_pairs, shown_pairs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.state import engine

PAGE_SIZE = 10
CONFIDENT = "Confident mistakes"
MISSED = "Missed positives"
DESCRIPTIONS = {
    CONFIDENT: "Known negatives, starting with those that the model is surest are matches.",
    MISSED: "Known positives, starting with those that the model finds least likely.",
}
ADVICE = "Label pairs on the page “Label”, or import labels on the page “Export”."
NONE = {
    CONFIDENT: f"No pair is known to be a non-match yet. {ADVICE}",
    MISSED: f"No pair is known to be a match yet. {ADVICE}",
}


@st.fragment
def mistakes_view(project_id: int, round_: ExploredRound) -> None:
    """Draw the pairs that the round gets most wrong."""
    known = known_pairs(round_)
    kind = st.segmented_control(
        "Mistakes",
        list(DESCRIPTIONS),
        default=CONFIDENT,
        required=True,
        key="mistakes",
        label_visibility="collapsed",
        persist_state="session",
    )
    scored = mistakes.confident_mistakes(known) if kind == CONFIDENT else mistakes.missed_positives(known)
    if not len(scored):
        st.info(NONE[kind], icon=":material/inbox:")
        return
    half_score = threshold(round_.matcher)
    share = "" if half_score is None else _share(kind, mistakes.wrong_above(scored, half_score), len(scored))
    st.caption(f"{DESCRIPTIONS[kind]} {share}")
    page = paged(len(scored), f"mistakes_page_{kind}_{round_.folder.name}", PAGE_SIZE, "worst first")
    part = scored.take(slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE))
    pair_rows(project_id, [(pair, "") for pair in shown_pairs(engine(), round_.matcher, part)])


def _share(kind: str, above: int, total: int) -> str:
    """Return how many of the pairs lie on the wrong side of p = 1/2, in words."""
    if kind == CONFIDENT:
        return f"{above:,} of {counted(total, 'pair')} have p ≥ ½."
    return f"{total - above:,} of {counted(total, 'pair')} have p < ½."
