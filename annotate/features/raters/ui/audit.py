"""The machine rater before an audit: it reads random pairs, so that people label where its verdicts tell most."""

from functools import partial
from typing import Any

import streamlit as st

from allpairs.annotate.features.quality.method_in_words import read_by
from allpairs.annotate.features.raters.rater_state import RaterState, dry_run, in_words, read_raters, what_leaves
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.job_progress import job_progress
from allpairs.annotate.kit.jobs.requests import MOST_RATED, request_rating
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.job_watch import watch
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.domain import RatedFor
from allpairs.db.projects.jobs import RATE

USUAL = 2_000  # pairs to read
WHY = (
    "It reads random pairs of every stratum. People then label some of each verdict, so that their labels go where "
    "they tell most. What it says is no label: people’s labels tell how often it is right, and a rater that is no "
    "better than chance changes little."
)


def audit_rater(project_id: int, audit: dict[str, Any]) -> None:
    """Draw what a machine rater has read for the audit, and the form that lets the one in use read more."""
    if audit.get("rater"):
        st.caption(literal(read_by(audit["rater"])))
    if not may(Right.CHANGE, project_id):
        return
    newest = next(iter(read_raters(engine(), project_id)), None)
    if newest is not None and newest.in_use:
        with st.popover("Let the machine rater read pairs first", icon=":material/smart_toy:", key="audit_rater"):
            st.write(WHY)
            st.caption(literal(what_leaves(newest.setup)))
            watch(partial(job_progress, engine(), project_id, RATE), "Asking: ", partial(_form, project_id, newest))


def _form(project_id: int, newest: RaterState) -> None:
    paused = newest.row.paused_at is not None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        most = st.number_input("Pairs to read", 1, MOST_RATED, USUAL, step=500, key="audit_rater_pairs", width=160)
        looks = st.button("Estimate", key="audit_rater_estimate", icon=":material/calculate:")
        asks = st.button("Read", key="audit_rater_read", type="primary", icon=":material/smart_toy:", disabled=paused)
    if paused:
        st.caption("It is paused: the page “Settings” says why.")
    with told():
        if looks:
            found = dry_run(engine(), project_id, most, RatedFor.AUDIT)
            st.info(literal(in_words(found)), icon=":material/calculate:")
        if asks:
            request_rating(engine(), project_id, most, RatedFor.AUDIT)
            st.rerun()
