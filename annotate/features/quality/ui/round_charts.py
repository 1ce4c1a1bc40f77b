"""The plots of the rounds, and for each a sentence that describes it."""

import altair as alt
import pandas as pd

from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.charts import (
    HEIGHT,
    KINDS,
    LINES,
    MATCHER,
    NEUTRAL,
    POSITIVE,
    SQUARES,
    Plot,
    between,
    labels_axis,
    share_axis,
    tooltips,
)

BANDS = 2  # curves drawn with their bands, at most
FLOOR = 0.5  # the foot of bars on a logarithmic axis
BATCH_TITLES = {"positives": "Positives found", "share_positive": "Share of positives"}


def estimate_chart(table: pd.DataFrame, height: int = HEIGHT) -> Plot:
    """Return one measure against labels spent: points, a line, and the interval where it has a width."""
    spent = labels_axis(int(table["labels"].min()), int(table["labels"].max()))
    base = alt.Chart(table).encode(x=alt.X("labels:Q", title="Labels spent", **spent))
    shares = share_axis(float(table["low"].min()), float(table["high"].max()))
    interval = base.transform_filter("datum.high > datum.low").encode(
        y=alt.Y("low:Q", title=None, **shares), y2="high:Q"
    )
    value = base.encode(
        y=alt.Y("value:Q", title=None, **shares),
        tooltip=tooltips(
            {
                "round": ("Round", "d"),
                "labels": ("Labels", ",d"),
                "value": ("Value", ".3f"),
                "low": ("Low", ".3f"),
                "high": ("High", ".3f"),
            }
        ),
    )
    return alt.layer(
        interval.mark_area(color=MATCHER, opacity=0.18),
        interval.mark_rule(color=MATCHER, strokeWidth=1.5),
        value.mark_line(color=MATCHER, strokeWidth=2),
        value.mark_point(color=MATCHER, filled=True, size=70, opacity=1),
    ).properties(height=height)


def describe_estimates(table: pd.DataFrame) -> str:
    """Return a sentence on the course of one measure."""
    first = table.iloc[0]
    last = table.iloc[-1]
    start = f"{first.measure} over all pairs, by labels spent: {first.value:.3f} at {first.labels:,} labels"
    end = f", {last.value:.3f} at {last.labels:,} labels" if len(table) > 1 else ""
    return f"{start}{end}{_between(last.low, last.high)}."


def _between(low: float, high: float) -> str:
    """Return the interval in words; empty where it has no width."""
    return f" (95% interval {low:.3f} to {high:.3f})" if high > low else ""


def curve_chart(table: pd.DataFrame) -> Plot:
    """Return a precision-recall curve for each round in the table. The area under a line is the average precision.

    With one or two rounds, the 95% band is drawn too; more bands would hide one another.
    """
    named = table.assign(name=table["round"].map(round_name), order=range(len(table)))
    names = list(dict.fromkeys(named["name"]))
    base = alt.Chart(named).encode(
        x=alt.X("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f", tickCount=6)),
        y=alt.Y("precision:Q", title="Precision", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f")),
        color=alt.Color("name:N", title=None, scale=round_colours(names), legend=LINES),
    )
    lines = base.mark_line(interpolate="step-before", strokeWidth=2.5).encode(
        order="order:Q",
        strokeDash=alt.StrokeDash("name:N", title=None, legend=LINES, scale=_round_dashes(names)),
    )
    points = base.mark_point(size=60, opacity=0).encode(
        tooltip=[
            alt.Tooltip("name:N", title="Matcher"),
            *tooltips(
                {
                    "recall": ("Recall", ".3f"),
                    "precision": ("Precision", ".3f"),
                    "low": ("Low", ".3f"),
                    "high": ("High", ".3f"),
                    "score": ("Score", ".3f"),
                }
            ),
        ]
    )
    bands = base.transform_filter("datum.high > datum.low").mark_area(interpolate="step-before", opacity=0.16)
    drawn = [bands.encode(y=alt.Y("low:Q", scale=alt.Scale(domain=[0, 1])), y2="high:Q")] if len(names) <= BANDS else []
    return alt.layer(*drawn, lines, points).properties(height=HEIGHT + 60)


def describe_curves(table: pd.DataFrame) -> str:
    """Return a sentence with each curve's precision at half of the positives."""
    parts = []
    for number in sorted(table["round"].unique()):
        reached = table[(table["round"] == number) & (table["recall"] >= 0.5)]
        if len(reached):
            point = reached.iloc[0]
            parts.append(f"{round_name(number)} {point.precision:.2f}{_between(point.low, point.high)}")
    return "Precision against recall. Precision where half of the positives are found: " + ", ".join(parts) + "."


def batch_chart(table: pd.DataFrame, column: str) -> Plot:
    """Return a bar for each batch with its value above it. Shares are shown in per cent."""
    form, step = (".0%", 0.01) if column == "share_positive" else (",d", 1)
    base = alt.Chart(table.dropna(subset=[column])).encode(
        x=alt.X("round:O", title="Batch", scale=alt.Scale(domain=list(table["round"])), axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{column}:Q", title=None, axis=alt.Axis(format=form, tickCount=5, tickMinStep=step)),
        tooltip=tooltips(
            {"round": ("Batch", "d"), "answered": ("Answered", ",d"), column: (BATCH_TITLES[column], form)}
        ),
    )
    bars = base.mark_bar(color=POSITIVE, cornerRadiusEnd=3, size=28)
    words = base.mark_text(dy=-8, color=NEUTRAL, fontSize=12).encode(text=alt.Text(f"{column}:Q", format=form))
    return alt.layer(bars, words).properties(height=HEIGHT - 60)


def describe_batches(table: pd.DataFrame) -> str:
    """Return a sentence with the positives found in each batch."""
    parts = [f"batch {row.round}: {row.positives} of {row.answered} answers" for row in table.itertuples()]
    return "Positives found. " + ", ".join(parts) + "."


def histogram_chart(table: pd.DataFrame, threshold: float | None) -> Plot:
    """Return a histogram of the scores of all evaluation pairs, with counts on a logarithmic axis.

    All pairs, or the negatives, are bars. The positives, where known, are a step line.
    """
    kinds = [kind for kind in KINDS if kind in table]
    table = _filled(table, kinds, threshold)
    top = 2.0 * float(max(1, *table[kinds].max()))
    encoded = {
        "x": alt.X("score:Q", title="Score", scale=alt.Scale(zero=False, nice=False)),
        "y": _counts(top),
        "color": alt.Color("pairs:N", title=None, scale=_kind_colours(kinds), legend=SQUARES),
        "y2": "floor:Q",
    }
    bars = alt.Chart(_heights(table, kinds[0])).mark_bar(opacity=0.6).encode(x2="score_to:Q", **encoded)
    steps = [
        alt.Chart(_outline(_heights(table, kind)))
        .mark_area(interpolate="step-after", line={"strokeWidth": 2}, opacity=0.35)
        .encode(**encoded)
        for kind in kinds[1:]
    ]
    tips = {"score_from": ("Score from", ".3f"), "score_to": ("to", ".3f")}
    hover = (
        alt.Chart(table)
        .mark_bar(opacity=0)
        .encode(
            alt.X("score_from:Q"),
            x2="score_to:Q",
            y=alt.datum(top),
            y2=alt.datum(FLOOR),
            tooltip=tooltips(tips | {kind: (kind.capitalize(), ",d") for kind in kinds}),
        )
    )
    return alt.layer(bars, *steps, hover, *_threshold_layers(table, threshold)).properties(height=HEIGHT + 60)


def _filled(table: pd.DataFrame, kinds: list[str], threshold: float | None) -> pd.DataFrame:
    """Return the bins from the first to the last that holds pairs or the threshold; all of them where none does."""
    full = table[kinds].sum(axis=1) > 0
    if threshold is not None:
        full |= (table["score_from"] <= threshold) & (threshold <= table["score_to"])
    places = table.index[full]
    return table.loc[places[0] : places[-1]] if len(places) else table


def _counts(top: float) -> alt.Y:
    """Return the logarithmic axis of pair counts, up to the top."""
    return alt.Y(
        "height:Q",
        title="Pairs (logarithmic)",
        scale=alt.Scale(type="log", domain=[FLOOR, top], nice=False),
        axis=alt.Axis(format="~s", values=[10**power for power in range(12) if 10**power <= top]),
    )


def _kind_colours(kinds: list[str]) -> alt.Scale:
    return alt.Scale(domain=kinds, range=[KINDS[kind] for kind in kinds])


def describe_histogram(table: pd.DataFrame, threshold: float | None) -> str:
    """Return a sentence: how many pairs of each kind are drawn, and where the threshold is."""
    counted = " and ".join(f"{table[kind].sum():,.0f} {kind}" for kind in reversed(KINDS) if kind in table)
    ending = f"; the probability is one half at {threshold:.3f}" if threshold is not None else ""
    return f"Score histogram: {counted} by score{ending}."


def _heights(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return one row for each bin of the score. An empty bin has no height."""
    height = table[column].clip(lower=FLOOR)
    return pd.DataFrame({"score": table["score_from"], "score_to": table["score_to"]}).assign(
        height=height, floor=FLOOR, pairs=column
    )


def _outline(heights: pd.DataFrame) -> pd.DataFrame:
    """Return the same table with the right edge of the last bin, so that a step line ends there."""
    last = heights.tail(1)
    return pd.concat([heights, last.assign(score=last["score_to"])], ignore_index=True)


def _threshold_layers(table: pd.DataFrame, threshold: float | None) -> list[alt.Chart]:
    """Return a labelled line at the threshold, if it lies within the scores drawn."""
    if threshold is None or not table["score_from"].min() <= threshold <= table["score_to"].max():
        return []
    base = alt.Chart(pd.DataFrame({"at": [threshold], "name": [f"p = ½ at {threshold:.3f}"]})).encode(x="at:Q")
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=2)
    word = base.mark_text(color=NEUTRAL, align="left", dx=6, baseline="top", fontSize=12, fontWeight=600)
    return [rule, word.encode(text="name:N", y=alt.value(2))]


def round_colours(names: list[str]) -> alt.Scale:
    places = [i / (len(names) - 1) for i in range(len(names))] if len(names) > 1 else [1.0]
    return alt.Scale(domain=names, range=[between(place) for place in places])


def _round_dashes(names: list[str]) -> alt.Scale:
    """Return a dashed line for the pre-trained encoder, solid ones for the rounds."""
    return alt.Scale(domain=names, range=[[5, 4] if name == round_name(0) else [1, 0] for name in names])
