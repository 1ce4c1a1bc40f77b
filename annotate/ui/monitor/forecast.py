"""The forecast: a target to choose, and the labels and hours that it takes."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from annotate.monitor.forecast import band_table, in_words, next_target, outlook, targets_table, too_few
from annotate.monitor.forecast_chart import describe_outlook, measured_table, outlook_chart
from annotate.monitor.rounds import Report
from annotate.stats.label_times import Timed
from annotate.ui.common.figure import plot, table_open

HOW = (
    "Thousands of curves that the trained rounds leave plausible, flattening ones and straight ones in the logarithm "
    "of labels; the band holds 95% of what a round with so many labels would have. It supposes that labelling, "
    "strategy and texts go on as they were."
)
FORMATS = {"target": "%.2f", "reached": "percent", "labels": "%.0f", "labels_low": "%.0f", "labels_high": "%.0f",
           "hours": "%.1f", "hours_low": "%.1f", "hours_high": "%.1f"}  # fmt: skip


def forecast(report: Report, times: Sequence[Timed]) -> None:
    """Nothing; draws the forecast, or says why there is none."""
    st.subheader("Forecast", anchor=False)
    spent = report.measured[-1][0].labels
    rng = np.random.default_rng([report.settings.seed, spent])
    found = outlook(report, times, rng)
    if found is None:
        st.caption(too_few(report))
        return
    begin, key = next_target(found), f"forecast_target_{spent}"
    target = st.number_input("Average precision to reach", 0.01, 0.99, begin, step=0.01, key=key, width=240)
    said = in_words(found, target)
    st.markdown(said)
    measured, band = measured_table(found.points), band_table(found, target, rng)
    plot(outlook_chart, measured, band, target, described=describe_outlook(measured, band, said))
    st.caption(HOW + _audits(report))
    with st.expander("Table", icon=":material/table:"):
        table_open(band, "forecast")
        st.caption("More labels and hours for each target; ∞ is beyond 30 times the labels so far.")
        table_open(targets_table(found, target), "forecast-targets", FORMATS)


def _audits(report: Report) -> str:
    """That audit tasks are not among the labels that are forecast."""
    every = report.settings.audit_every
    return f" Audit tasks, one in {every}, come on top." if report.audited is not None and every else ""
