"""The plots of the page Explore, and a sentence for each that says what it shows."""

import altair as alt
import pandas as pd

from annotate.charts import HEIGHT, LINES, NEGATIVE, NEUTRAL, POSITIVE, Plot, tooltips

MEASURES = {"precision": POSITIVE, "recall": NEGATIVE}


def threshold_chart(table: pd.DataFrame, at: float, low: float, high: float) -> Plot:
    """Precision and recall by threshold, with a line at the chosen one. table: columns of an evaluation's curve."""
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
            tooltip=[alt.Tooltip("measure:N", title="Measure"),
                     *tooltips({"score": ("Threshold", ".3f"), "value": ("Value", ".3f")})],
        )
    )  # fmt: skip
    rule = alt.Chart(pd.DataFrame({"at": [at]})).mark_rule(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=2)
    layers = [lines, rule.encode(x="at:Q")]
    if "low" in table:
        band = alt.Chart(table).mark_area(interpolate="step-before", opacity=0.16, color=POSITIVE)
        layers.insert(0, band.encode(x=x, y=alt.Y("low:Q", scale=unit), y2="high:Q"))
    return alt.layer(*layers).properties(height=HEIGHT)


def describe_thresholds(table: pd.DataFrame) -> str:
    """The ends of both lines, in a sentence."""
    strict, loose = table.iloc[0], table.iloc[-1]
    return (
        f"Precision and recall by threshold: {strict.precision:.2f} and {strict.recall:.2f} at {strict.score:.3f}, "
        f"{loose.precision:.2f} and {loose.recall:.2f} at {loose.score:.3f}."
    )
