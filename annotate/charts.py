"""The plots of monitoring, and a sentence for each that says what it shows.

Every colour here has a contrast of at least 3 to 1 on white and on the dark background, and the two ends of the scale
differ for every kind of colour vision: rounds run from orange (early) to blue (late).
"""

import altair as alt
import pandas as pd

from annotate.monitoring import round_name

POSITIVE, NEGATIVE = "#2f7fd6", "#d9730d"
ROUNDS = ["#d9730d", "#d4567a", "#a767c9", "#2f7fd6"]
NEUTRAL = "#808495"
HEIGHT = 300
BATCH_TITLES = {"positives": "Positives found", "share_positive": "Share of positives"}


def estimate_chart(table: pd.DataFrame) -> alt.LayerChart:
    """One measure against labels spent: points, a line, and the interval where it has a width."""
    base = alt.Chart(table).encode(x=alt.X("labels:Q", title="Labels spent", axis=alt.Axis(tickMinStep=1, tickCount=6)))
    interval = base.transform_filter("datum.high > datum.low").encode(
        y=alt.Y("low:Q", title=None, scale=_unit(table["high"].max())), y2="high:Q"
    )
    value = base.encode(
        y=alt.Y("value:Q", title=None, scale=_unit(table["high"].max())),
        tooltip=[
            alt.Tooltip("round:O", title="Round"),
            alt.Tooltip("labels:Q", title="Labels", format=","),
            alt.Tooltip("value:Q", title="Value", format=".3f"),
            alt.Tooltip("low:Q", title="Low", format=".3f"),
            alt.Tooltip("high:Q", title="High", format=".3f"),
        ],
    )
    return alt.layer(
        interval.mark_area(color=POSITIVE, opacity=0.18),
        interval.mark_rule(color=POSITIVE, strokeWidth=1.5),
        value.mark_line(color=POSITIVE, strokeWidth=2),
        value.mark_point(color=POSITIVE, filled=True, size=70, opacity=1),
    ).properties(height=HEIGHT)


def describe_estimates(table: pd.DataFrame) -> str:
    """The course of one measure, in a sentence."""
    first, last = table.iloc[0], table.iloc[-1]
    start = f"{first.measure} over all pairs, by labels spent: {first.value:.3f} at {first.labels:,} labels"
    return start + (f", {last.value:.3f} at {last.labels:,} labels." if len(table) > 1 else ".")


def curve_chart(table: pd.DataFrame) -> alt.LayerChart:
    """A precision-recall curve for each round in the table; the area under a line is the average precision."""
    named = table.assign(name=table["round"].map(round_name), order=range(len(table)))
    names = list(dict.fromkeys(named["name"]))
    base = alt.Chart(named).encode(
        x=alt.X("recall:Q", title="Recall", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f", tickCount=6)),
        y=alt.Y("precision:Q", title="Precision", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format=".1f")),
        color=alt.Color("name:N", title=None, scale=_round_colours(names), legend=alt.Legend(orient="bottom")),
    )
    lines = base.mark_line(interpolate="step-before", strokeWidth=2).encode(
        order="order:Q",
        strokeDash=alt.StrokeDash("name:N", scale=alt.Scale(domain=names, range=_dashes(names)), title=None),
    )
    points = base.mark_point(size=60, opacity=0).encode(
        tooltip=[
            alt.Tooltip("name:N", title="Matcher"),
            alt.Tooltip("recall:Q", title="Recall", format=".3f"),
            alt.Tooltip("precision:Q", title="Precision", format=".3f"),
            alt.Tooltip("score:Q", title="Score at least", format=".3f"),
        ]
    )
    return alt.layer(lines, points).properties(height=HEIGHT + 60)


def describe_curves(table: pd.DataFrame) -> str:
    """Where each curve is at half of the positives, in a sentence."""
    parts = []
    for number, curve in table.groupby("round", sort=True):
        reached = curve[curve["recall"] >= 0.5]
        if len(reached):
            parts.append(f"{round_name(number)} {reached.iloc[0]['precision']:.2f}")
    return "Precision against recall. Precision where half of the positives are found: " + ", ".join(parts) + "."


def batch_chart(table: pd.DataFrame, column: str, title: str) -> alt.LayerChart:
    """One bar for each batch with its value written above it; a column of shares is shown in per cent."""
    form = ".0%" if column == "share_positive" else ","
    base = alt.Chart(table.dropna(subset=[column])).encode(
        x=alt.X("round:O", title="Batch", axis=alt.Axis(labelAngle=0)),
        y=alt.Y(f"{column}:Q", title=title, axis=alt.Axis(format=form, tickCount=5)),
        tooltip=[
            alt.Tooltip("round:O", title="Batch"),
            alt.Tooltip("answered:Q", title="Answered", format=","),
            alt.Tooltip(f"{column}:Q", title=title, format=form),
        ],
    )
    bars = base.mark_bar(color=POSITIVE, cornerRadiusEnd=3, size=28)
    words = base.mark_text(dy=-8, color=NEUTRAL, fontSize=12).encode(text=alt.Text(f"{column}:Q", format=form))
    return alt.layer(bars, words).properties(height=HEIGHT - 60)


def describe_batches(table: pd.DataFrame) -> str:
    """The positives found in each batch, in a sentence."""
    parts = [f"batch {row.round}: {row.positives} of {row.answered} answers" for row in table.itertuples()]
    return "Positives found. " + ", ".join(parts) + "."


def histogram_chart(table: pd.DataFrame, threshold: float | None) -> alt.LayerChart:
    """The scores of all evaluation pairs, positives before negatives, counts on a logarithmic axis."""
    counts = table.melt(["score_from", "score_to"], ["negatives", "positives"], "pairs", "count")
    counts = counts[counts["count"] > 0].assign(floor=0.5)
    top = float(counts["count"].max()) * 2
    bars = (
        alt.Chart(counts)
        .mark_bar(opacity=0.62, binSpacing=0)
        .encode(
            x=alt.X("score_from:Q", title="Score (cosine)", scale=alt.Scale(zero=False, nice=False)),
            x2="score_to:Q",
            y=alt.Y(
                "count:Q",
                title="Pairs (logarithmic)",
                scale=alt.Scale(type="log", domain=[0.5, top]),
                axis=alt.Axis(format="~s", tickCount=5),
            ),
            y2="floor:Q",
            color=alt.Color(
                "pairs:N",
                title=None,
                scale=alt.Scale(domain=["negatives", "positives"], range=[NEGATIVE, POSITIVE]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=[
                alt.Tooltip("pairs:N", title="Pairs"),
                alt.Tooltip("count:Q", title="Count", format=","),
                alt.Tooltip("score_from:Q", title="Score from", format=".3f"),
                alt.Tooltip("score_to:Q", title="to", format=".3f"),
            ],
        )
    )
    return alt.layer(bars, *_threshold_layers(table, threshold)).properties(height=HEIGHT)


def describe_histogram(table: pd.DataFrame, threshold: float | None) -> str:
    """How many of the drawn pairs are positives, and where the threshold is, in a sentence."""
    counted = f"{table['positives'].sum():,} positives and {table['negatives'].sum():,} negatives drawn by score"
    where = f"; the probability is one half at {threshold:.3f}" if threshold is not None else ""
    return f"Score histogram: {counted}{where}."


def _threshold_layers(table: pd.DataFrame, threshold: float | None) -> list[alt.Chart]:
    inside = threshold is not None and table["score_from"].min() <= threshold <= table["score_to"].max()
    if not inside:
        return []
    base = alt.Chart(pd.DataFrame({"threshold": [threshold], "name": [f"p = ½ at {threshold:.3f}"]})).encode(
        x="threshold:Q"
    )
    rule = base.mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=2)
    word = base.mark_text(color=NEUTRAL, align="right", dx=-6, baseline="top", fontSize=12).encode(
        text="name:N", y=alt.value(4)
    )
    return [rule, word]


def _unit(largest: float) -> alt.Scale:
    """An axis from 0 to a little above the largest value, and never above 1."""
    return alt.Scale(domain=[0, min(1.0, max(0.05, largest * 1.15))], nice=False)


def _round_colours(names: list[str]) -> alt.Scale:
    if len(names) == 1:
        return alt.Scale(domain=names, range=[ROUNDS[-1]])
    return alt.Scale(domain=names, range=[_between(i / (len(names) - 1)) for i in range(len(names))])


def _between(place: float) -> str:
    """The colour at a place from 0 to 1 of the scale of rounds."""
    left = min(int(place * (len(ROUNDS) - 1)), len(ROUNDS) - 2)
    share = place * (len(ROUNDS) - 1) - left
    pairs = zip(_channels(ROUNDS[left]), _channels(ROUNDS[left + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _channels(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def _dashes(names: list[str]) -> list[list[int]]:
    """A dashed line for the pre-trained encoder, whole ones for the rounds."""
    return [[5, 4] if name == round_name(0) else [1, 0] for name in names]
