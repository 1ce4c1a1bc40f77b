"""The charts of the page Explore, each with a sentence that describes it."""

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import EARLIER, HEIGHT, LINES, MATCHER, NEGATIVE, NEUTRAL, POSITIVE, Plot, tooltips

MEASURES = {"precision": MATCHER, "recall": EARLIER}


def threshold_chart(table: pd.DataFrame, threshold: float, low: float, high: float) -> Plot:
    """Plot precision and recall by threshold and mark the chosen one. table: columns of an evaluation's curve."""
    measures = list(MEASURES)
    points = table.melt(id_vars=["score"], value_vars=measures, var_name="measure")
    x = alt.X("score:Q", title="Threshold", scale=alt.Scale(domain=[low, high], nice=False))
    unit = alt.Scale(domain=[0, 1])
    lines = (
        alt.Chart(points)
        .mark_line(interpolate="step-before", strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y("value:Q", title=None, scale=unit, axis=alt.Axis(format=".1f", tickCount=5)),
            color=alt.Color(
                "measure:N", title=None, legend=LINES, scale=alt.Scale(domain=measures, range=list(MEASURES.values()))
            ),
            tooltip=[
                alt.Tooltip("measure:N", title="Measure"),
                *tooltips({"score": ("Threshold", ".3f"), "value": ("Value", ".3f")}),
            ],
        )
    )
    rule = alt.Chart(pd.DataFrame({"at": [threshold]})).mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=2)
    layers = [lines, rule.encode(x="at:Q")]
    if "low" in table:
        band = alt.Chart(table).mark_area(interpolate="step-before", opacity=0.16, color=MATCHER)
        layers.insert(0, band.encode(x=x, y=alt.Y("low:Q", scale=unit), y2="high:Q"))
    return alt.layer(*layers).properties(height=HEIGHT)


def describe_thresholds(table: pd.DataFrame) -> str:
    """Describe the ends of both lines in a sentence."""
    strict = table.iloc[0]
    loose = table.iloc[-1]
    return (
        f"Precision and recall by threshold: {strict.precision:.2f} and {strict.recall:.2f} at {strict.score:.3f}, "
        f"{loose.precision:.2f} and {loose.recall:.2f} at {loose.score:.3f}."
    )


KINDS = {-1: "unknown", 0: "known: no", 1: "known: yes"}


def change_chart(table: pd.DataFrame, before: str, after: str) -> Plot:
    """Plot each pair by its two probabilities; unchanged pairs lie on the diagonal. table: p_before, p_after, kind."""
    unit = alt.Scale(domain=[0, 1])
    colours = alt.Scale(domain=list(KINDS.values()), range=[NEUTRAL, NEGATIVE, POSITIVE])
    shapes = alt.Scale(domain=list(KINDS.values()), range=["circle", "cross", "triangle-up"])
    points = (
        alt.Chart(table)
        .mark_point(filled=True, size=45, opacity=0.7)
        .encode(
            x=alt.X("p_before:Q", title=f"p, {before}", scale=unit, axis=alt.Axis(format=".1f", tickCount=6)),
            y=alt.Y("p_after:Q", title=f"p, {after}", scale=unit, axis=alt.Axis(format=".1f", tickCount=6)),
            color=alt.Color("kind:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
            shape=alt.Shape("kind:N", title=None, scale=shapes),
            tooltip=tooltips({"p_before": (before, ".3f"), "p_after": (after, ".3f")}),
        )
    )
    same = (
        alt.Chart(pd.DataFrame({"at": [0, 1]})).mark_line(color=NEUTRAL, strokeDash=[5, 4]).encode(x="at:Q", y="at:Q")
    )
    return alt.layer(same, points).properties(height=HEIGHT + 120)


def describe_changes(table: pd.DataFrame, before: str, after: str) -> str:
    """Describe how many of the drawn pairs rose and fell across one half."""
    rose = int(((table["p_before"] < 0.5) & (table["p_after"] >= 0.5)).sum())
    fell = int(((table["p_before"] >= 0.5) & (table["p_after"] < 0.5)).sum())
    turned = f"{rose:,} rose above one half, {fell:,} fell below"
    return f"Probability of {len(table):,} pairs, {before} and {after}: {turned}."
