"""The machine rater of a project on the page Monitor: what it is worth, and its part in an audit."""

from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.calibration_chart import describe_reliability, reliability_chart
from allpairs.annotate.features.quality.method_in_words import read_by
from allpairs.annotate.features.raters.project_raters import (
    RaterDetails,
    dry_run,
    rating_in_words,
    read_raters,
    read_worth,
    what_leaves,
)
from allpairs.annotate.features.raters.worth import COLUMNS, quality_rows, worth_sentences
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs.open_jobs import newest_progress
from allpairs.annotate.kit.jobs.requests import MOST_RATED, request_rating
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.annotate.kit.ui.job_status import watch
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.db.projects.jobs import RATE
from allpairs.db.rating import RatedFor

USUAL_AUDIT_PAIRS = 2_000
AUDIT_EXPLANATION = (
    "It reads random pairs of every stratum. People then label some of each verdict, so that their labels go where "
    "they tell most. What it says is no label: people’s labels tell how often it is right, and a rater that is no "
    "better than chance changes little."
)
WORTH_EXPLANATION = (
    "On pairs that people answered, without seeing what it said, and by thirds of the matcher’s scores. Each share has "
    "its 95% interval and its number of pairs. Abstentions count under “Abstains” alone, which is a share of all pairs "
    "answered. The model’s figures do not use its verdicts, unless they guided the choice of audit pairs; the tab "
    "Audit then says so."
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
            st.write(AUDIT_EXPLANATION)
            st.caption(literal(what_leaves(newest.setup)))
            draw = partial(_read_audit_pairs, project_id, newest)
            watch(partial(newest_progress, engine(), project_id, RATE), "Asking: ", draw)


def _read_audit_pairs(project_id: int, rater: RaterDetails) -> None:
    paused = rater.paused_at is not None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        pairs = st.number_input(
            "Pairs to read", 1, MOST_RATED, USUAL_AUDIT_PAIRS, step=500, key="audit_rater_pairs", width=160
        )
        estimates = st.button("Estimate", key="audit_rater_estimate", icon=":material/calculate:")
        asks = st.button("Read", key="audit_rater_read", type="primary", icon=":material/smart_toy:", disabled=paused)
    if paused:
        st.caption("It is paused: the page “Settings” says why.")
    with told():
        if estimates:
            estimate = dry_run(engine(), project_id, pairs, RatedFor.AUDIT)
            st.info(literal(rating_in_words(estimate)), icon=":material/calculate:")
        if asks:
            request_rating(engine(), project_id, pairs, RatedFor.AUDIT)
            st.rerun()


def rater_worth(project_id: int) -> None:
    """Draw what the newest machine rater is worth, if the project has or had one."""
    raters = read_raters(engine(), project_id)
    if not raters:
        return
    newest = raters[0]
    st.subheader("Machine rater", anchor=False)
    st.write(
        f"**{literal(newest.setup.name)}**, {literal(newest.in_words)}: {counted(newest.pairs, 'pair')} rated, "
        f"cost {newest.cost:,.2f}."
    )
    worth = read_worth(engine(), project_id)
    if worth is None or not worth.quality.pairs:
        st.caption("It has rated no pair that people answered yet. Press “Ask” on the page “Settings”.")
        return
    columns = {COLUMNS[0]: st.column_config.Column(pinned=True)}  # on a phone the rest scrolls
    st.dataframe(pd.DataFrame(quality_rows(worth), columns=COLUMNS), hide_index=True, column_config=columns)
    st.caption(WORTH_EXPLANATION)
    for line in worth_sentences(worth):
        st.write(line)
    if worth.calibration:
        table = pd.DataFrame(map(asdict, worth.calibration))
        st.markdown("**Calibration of its probabilities**")
        plot(reliability_chart, table, described=describe_reliability(table, newest.setup.name))
        table_behind(table, "calibration-machine-rater")
