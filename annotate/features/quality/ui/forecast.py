"""The plot of the forecast: the rounds so far, and what rounds with more labels would reach."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.forecast import (
    band_table,
    forecast_in_words,
    next_target,
    outlook,
    targets_table,
    too_few,
)
from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.charts import HEIGHT, LINES, MATCHER, NEUTRAL, Plot, labels_axis, share_axis, tooltips
from allpairs.annotate.kit.ui.figure import plot, table_open
from allpairs.learner.light.stats.forecast import Point
from allpairs.learner.light.stats.label_times import Timed

MEASURED = "measured"
FORECAST = "forecast"


def outlook_chart(measured: pd.DataFrame, band: pd.DataFrame, target: float) -> Plot:
    """Return the measured rounds as a line with intervals, the forecast dashed in its 95% band, and the target.

    measured: of `measured_table`; band: of `band_table`.
    """
    ends = [
        float(table[end].agg(function))
        for table in (measured, band)
        for end, function in (("low", "min"), ("high", "max"))
    ]
    up = share_axis(min(*ends, target), max(*ends, target))
    spent = labels_axis(int(measured["labels"].min()), int(band["labels"].max()))
    labels = alt.X("labels:Q", title="Labels spent", **spent)
    value = alt.Y("average_precision:Q", title="Average precision", **up)
    tips = tooltips(
        {
            "labels": ("Labels", ",d"),
            "average_precision": ("Average precision", ".3f"),
            "low": ("Low", ".3f"),
            "high": ("High", ".3f"),
        }
    )
    kinds = alt.Scale(domain=[MEASURED, FORECAST], range=[[1, 0], [5, 4]])
    rows = pd.concat([measured.assign(kind=MEASURED), band.assign(kind=FORECAST)])
    base = alt.Chart(rows).encode(x=labels, tooltip=[alt.Tooltip("kind:N", title="Round"), *tips])
    intervals = base.transform_filter("datum.high > datum.low").encode(
        y=alt.Y("low:Q", title="Average precision", **up), y2="high:Q"
    )
    lines = base.mark_line(color=MATCHER, strokeWidth=2.5).encode(
        y=value, strokeDash=alt.StrokeDash("kind:N", title=None, scale=kinds, legend=LINES)
    )
    is_forecast = f"datum.kind == '{FORECAST}'"
    is_measured = f"datum.kind == '{MEASURED}'"
    return alt.layer(
        intervals.transform_filter(is_forecast).mark_area(color=MATCHER, opacity=0.18),
        intervals.transform_filter(is_measured).mark_rule(color=MATCHER, strokeWidth=1.5),
        lines,
        base.transform_filter(is_measured).mark_point(color=MATCHER, filled=True, size=70, opacity=1).encode(y=value),
        base.transform_filter(is_forecast).mark_point(size=60, opacity=0).encode(y=value),
        *_target(target, up),
    ).properties(height=HEIGHT + 20)


def _target(target: float, up: dict[str, Any]) -> list[alt.Chart]:
    """Return a labelled dashed line at the target."""
    base = alt.Chart(pd.DataFrame({"target": [target], "name": [f"target {target:g}"]})).encode(
        y=alt.Y("target:Q", **up)
    )
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[2, 3], strokeWidth=2)
    word = base.mark_text(color=NEUTRAL, align="left", dx=4, dy=-7, fontSize=12, fontWeight=600)
    return [rule, word.encode(text="name:N", x=alt.value(0))]


def measured_table(points: Sequence[Point]) -> pd.DataFrame:
    """Return labels and average precision of each trained round, with its interval."""
    rows = [(point.labels, point.value, point.low, point.high) for point in points]
    return pd.DataFrame(rows, columns=["labels", "average_precision", "low", "high"])


def describe_outlook(measured: pd.DataFrame, band: pd.DataFrame, conclusion: str) -> str:
    """Return sentences on the last round, the end of the band, and what the target takes."""
    last = measured.iloc[-1]
    end = band.iloc[-1]
    return (
        f"Forecast of average precision: {last.average_precision:.3f} measured at {last.labels:,.0f} labels, "
        f"{end.average_precision:.3f} forecast at {end.labels:,.0f} (95% interval {end.low:.3f} to {end.high:.3f}). "
        f"{conclusion.replace('*', '')}"
    )


EXPLANATION = (
    "Based on thousands of simulated curves that fit the trained rounds: some flatten, others keep rising with the "
    "logarithm of labels. The band covers 95% of the rounds expected at each number of labels. The forecast assumes "
    "that labelling, strategy and texts stay as they are."
)
FORMATS = {
    "target": "%.2f",
    "reached": "percent",
    "labels": "%.0f",
    "labels_low": "%.0f",
    "labels_high": "%.0f",
    "hours": "%.1f",
    "hours_low": "%.1f",
    "hours_high": "%.1f",
}


def forecast(report: MonitorReport, times: Sequence[Timed]) -> None:
    """Draw the forecast, or say why there is none."""
    st.subheader("Forecast", anchor=False)
    spent = report.measured[-1][0].labels
    rng = np.random.default_rng([report.settings.seed, spent])
    curve = outlook(report, times, rng)
    if curve is None:
        st.caption(too_few(report))
        return
    begin = next_target(curve)
    key = f"forecast_target_{spent}"
    target = st.number_input("Target average precision", 0.01, 0.99, begin, step=0.01, key=key, width=240)
    conclusion = forecast_in_words(curve, target)
    st.markdown(conclusion)
    measured = measured_table(curve.points)
    band = band_table(curve, target, rng)
    plot(outlook_chart, measured, band, target, described=describe_outlook(measured, band, conclusion))
    st.caption(EXPLANATION + _audits(report))
    with st.expander("Table", icon=":material/table:"):
        table_open(band, "forecast")
        st.caption("Further labels and hours for each target. ∞ means more than 30 times the labels so far.")
        table_open(targets_table(curve, target), "forecast-targets", FORMATS)


def _audits(report: MonitorReport) -> str:
    """Return that the forecast does not count audit tasks; empty where there are none."""
    spacing = report.settings.audit_every
    return f" Audit pairs, one in {spacing}, are extra." if report.audited is not None and spacing else ""
