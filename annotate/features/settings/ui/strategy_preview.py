"""The pairs that a strategy would choose next: the button, the progress, the pairs."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from allpairs.annotate.features.settings import batch_preview
from allpairs.annotate.features.settings.ui.form import LABELS
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.annotate.kit.jobs.prepared import ShownPair
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.text.measures import score_in_words
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.results.job_results import Preview, preview_path
from allpairs.db.results.result_file import read_result
from allpairs.learner.light.catalog import STRATEGIES

EXPLANATION = (
    "The ten pairs that the strategy would choose next, with the newest model, among pairs without an answer. It uses "
    "the values entered here, saved or not, and does not change the project."
)
UNTRAINED = (
    "No model is trained yet. Until there are answers of both kinds, the pre-trained encoder's ranking decides, as the "
    "setting “Pairs before the first training” says."
)
EMPTY = "Every pair that the search finds has been answered. Raise the number of neighbours, or stop here."


def strategy_preview(project_id: int, entered: Mapping[str, Any], possible: bool) -> None:
    """Draw the preview of the entered strategy. possible: whether all entered settings are valid."""
    with st.container(border=True):
        watch(
            partial(newest_progress, engine(), project_id, PREVIEW),
            "Preview: ",
            partial(_offer, project_id, entered, possible),
        )
        preview = read_result(preview_path(project_id, entered["strategy"]), Preview)
        if preview is not None:
            _show(project_id, preview, entered)


def _offer(project_id: int, entered: Mapping[str, Any], possible: bool) -> None:
    """Draw the button that asks for a preview."""
    with st.container(horizontal=True, vertical_alignment="center"):
        is_clicked = st.button("Preview", key="preview", icon=":material/preview:", disabled=not possible)
        st.caption(EXPLANATION if possible else "Some values are invalid: see the end of the page.")
    if not is_clicked:
        return
    with told():
        batch_preview.request_preview(engine(), project_id, entered)
        st.rerun()


def _show(project_id: int, preview: Preview, entered: Mapping[str, Any]) -> None:
    """Draw the pairs, and how they were chosen."""
    model = f"the model of round {preview.matcher}" if preview.matcher else "the pre-trained encoder"
    st.markdown(f"**{STRATEGIES[preview.strategy].title}**, with {model}")
    if preview.chosen_by != preview.strategy:
        st.info(UNTRAINED, icon=":material/info:")
    changed = [LABELS[name] for name in batch_preview.changed_since(preview, entered)]
    if changed:
        st.warning(f"These values have changed since: {', '.join(changed)}. Preview again.", icon=":material/history:")
    if not preview.pairs:
        st.info(EMPTY, icon=":material/inbox:")
    for place, pair in enumerate(batch_preview.previewed_pairs(engine(), project_id, preview), start=1):
        _pair(place, pair)


def _pair(place: int, pair: ShownPair) -> None:
    left, right, figures = st.columns([5, 5, 3], gap="small")
    left.markdown(f"{place}\\. {literal(beginning(pair.left))}")
    right.markdown(literal(beginning(pair.right)))
    figures.caption(score_in_words(pair.score, pair.p))
