"""The strata of an audit: the sample from each, and what its labels say."""

import streamlit as st

from allpairs.annotate.kit.ui.figure import plot, table_open
from allpairs.annotate.monitor.charts.strata import describe_strata, strata_chart
from allpairs.annotate.monitor.round_tables import strata_table
from allpairs.annotate.monitor.rounds import Report

FORMATS = {"score_from": "%.3f", "score_to": "%.3f", "size": "localized", "weight": "%.1f",
           "share": "%.3g", "share_low": "%.3g", "share_high": "%.3g"}  # fmt: skip


def strata(report: Report) -> None:
    """Draw the share of positives in each stratum, and the table of the strata."""
    _, evaluation = report.measured[-1]
    if evaluation.audit.get("needed", 1):
        return  # there are too few audit labels, or none
    st.subheader("Strata of the audit", anchor=False)
    table = strata_table(evaluation)
    plot(strata_chart, table, described=describe_strata(table))
    st.caption(
        "Scores: those of the model that defined the strata. Weight: how many pairs each labelled pair represents."
    )
    table_open(table, "strata", FORMATS, height="content")
