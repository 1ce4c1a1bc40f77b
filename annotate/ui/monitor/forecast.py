"""The forecast: a target to choose, and the labels and hours it takes."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from allpairs.annotate.kit.ui.figure import plot, table_open
from allpairs.annotate.monitor.charts.forecast import describe_outlook, measured_table, outlook_chart
from allpairs.annotate.monitor.forecast import band_table, in_words, next_target, outlook, targets_table, too_few
from allpairs.annotate.monitor.rounds import Report
from allpairs.learner.light.stats.label_times import Timed

HOW = (
    "Based on thousands of simulated curves that fit the trained rounds: some flatten, others keep rising with the "
    "logarithm of labels. The band covers 95% of the rounds expected at each number of labels. The forecast assumes "
    "that labelling, strategy and texts stay as they are."
)
FORMATS = {"target": "%.2f", "reached": "percent", "labels": "%.0f", "labels_low": "%.0f", "labels_high": "%.0f",
           "hours": "%.1f", "hours_low": "%.1f", "hours_high": "%.1f"}  # fmt: skip


def forecast(report: Report, times: Sequence[Timed]) -> None:
    """Draw the forecast, or say why there is none."""
    st.subheader("Forecast", anchor=False)
    spent = report.measured[-1][0].labels
    rng = np.random.default_rng([report.settings.seed, spent])
    found = outlook(report, times, rng)
    if found is None:
        st.caption(too_few(report))
        return
    begin, key = next_target(found), f"forecast_target_{spent}"
    target = st.number_input("Target average precision", 0.01, 0.99, begin, step=0.01, key=key, width=240)
    said = in_words(found, target)
    st.markdown(said)
    measured, band = measured_table(found.points), band_table(found, target, rng)
    plot(outlook_chart, measured, band, target, described=describe_outlook(measured, band, said))
    st.caption(HOW + _audits(report))
    with st.expander("Table", icon=":material/table:"):
        table_open(band, "forecast")
        st.caption("Further labels and hours for each target. ∞ means more than 30 times the labels so far.")
        table_open(targets_table(found, target), "forecast-targets", FORMATS)


def _audits(report: Report) -> str:
    """Return that the forecast does not count audit tasks; empty where there are none."""
    every = report.settings.audit_every
    return f" Audit pairs, one in {every}, are extra." if report.audited is not None and every else ""
