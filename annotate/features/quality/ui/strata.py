"""The plot of an audit's strata: the estimated share of positives in each, with its interval."""

from math import ceil, floor, log10

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.round_tables import audit_strata
from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.charts import NEUTRAL, POSITIVE, Plot, tooltips
from allpairs.annotate.kit.ui.figure import plot, table_open

ROW = 24  # pixels for a stratum
AROUND = 110  # pixels for axis and legend
HIGHEST = "the highest pairs"
BELOW = "below them"
KINDS = {HIGHEST: POSITIVE, BELOW: NEUTRAL}
DEEPEST = 1e-9  # share at which the axis ends; smaller ones are drawn there


def strata_chart(table: pd.DataFrame) -> Plot:
    """Return the share of positives in each stratum on a logarithmic axis, highest stratum on top.

    table: as `strata_table` gives it; a stratum without a bound has no mark.
    """
    known = table.dropna(subset=["share_high"])
    low = _axis_low(known)
    high = _axis_high(known)
    drawn = known.assign(
        kind=known["top"].map({True: HIGHEST, False: BELOW}),
        share=known["share"].clip(lower=low),
        share_low=known["share_low"].fillna(low).clip(lower=low),
        labelled=known["positives"].map("{:,}".format) + " of " + known["sampled"].map("{:,}".format),
    )
    base = alt.Chart(drawn).encode(
        y=alt.Y(
            "stratum:N",
            title=None,
            sort=list(table["stratum"]),
            axis=alt.Axis(labelLimit=215, labelOverlap=False, labelFlush=False),
        ),
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
            legend=alt.Legend(orient="bottom", symbolType="circle", symbolOpacity=1),
        ),
        tooltip=[
            alt.Tooltip("stratum:N", title="Stratum"),
            alt.Tooltip("labelled:N", title="Positives of labelled"),
            *tooltips(
                {
                    "size": ("Pairs", ",d"),
                    "share": ("Share", ".3~%"),
                    "share_low": ("Low", ".3~%"),
                    "share_high": ("High", ".3~%"),
                }
            ),
        ],
    )
    share = alt.Scale(type="log", domain=[low, high], nice=False)
    axis = alt.Axis(values=_ticks(low, high), format="~%", labelOverlap="greedy")
    title = "Share of positives (log)"
    rules = base.mark_rule(strokeWidth=3, opacity=0.45).encode(
        x=alt.X("share_low:Q", title=title, scale=share, axis=axis), x2="share_high:Q"
    )
    points = base.mark_point(filled=True, size=75, opacity=1).encode(
        x=alt.X("share:Q", title=title, scale=share, axis=axis)
    )
    return alt.layer(rules, points).properties(height=ROW * len(table) + AROUND)


def describe_strata(table: pd.DataFrame) -> str:
    """Return a sentence with the share of positives in the highest and the lowest of the strata."""
    known = table.dropna(subset=["share"])
    first = known.iloc[0]
    last = known.iloc[-1]
    return (
        f"Estimated share of positives in each of {len(known)} strata: {first.share:.3g} in the highest, "
        f"{first.stratum}, down to {last.share:.2g} in the lowest, {last.stratum}."
    )


def _axis_low(known: pd.DataFrame) -> float:
    """Return the power of ten below every share in the plot."""
    smallest = known["share"].dropna().min() if len(known) else 0.01
    return max(DEEPEST, 10.0 ** floor(log10(max(DEEPEST, smallest)) - 0.5))


def _axis_high(known: pd.DataFrame) -> float:
    """Return the power of ten above every share and interval in the plot, at most 1."""
    largest = float(known["share_high"].max()) if len(known) else 1.0
    return min(1.0, 10.0 ** ceil(log10(max(10 * DEEPEST, largest))))


def _ticks(low: float, high: float) -> list[float]:
    return [10.0**power for power in range(round(log10(low)), round(log10(high)) + 1)]


FORMATS = {
    "score_from": "%.3f",
    "score_to": "%.3f",
    "size": "localized",
    "weight": "%.1f",
    "share": "%.3g",
    "share_low": "%.3g",
    "share_high": "%.3g",
}


def strata(report: MonitorReport) -> None:
    """Draw the share of positives in each stratum, and the table of the strata."""
    _, evaluation = report.measured[-1]
    if evaluation.audit.get("needed", 1):
        return  # there are too few audit labels, or none
    st.subheader("Strata of the audit", anchor=False)
    table = audit_strata(evaluation)
    plot(strata_chart, table, described=describe_strata(table))
    st.caption(
        "Scores: those of the model that defined the strata. Weight: how many pairs each labelled pair represents."
    )
    table_open(table, "strata", FORMATS, height="content")
