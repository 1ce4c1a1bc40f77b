"""The calibration plot: the share of positives against the probability that the matcher gives."""

import altair as alt
import pandas as pd

from annotate.monitor.charts import HEIGHT, Plot, tooltips
from annotate.text.palette import MATCHER, NEUTRAL

UNIT = alt.Scale(domain=[0, 1], nice=False)


def reliability_chart(table: pd.DataFrame) -> Plot:
    """A point with its interval for each tenth of p, joined; on the dashed diagonal p is the share. table: of
    `reliability_table`.
    """
    base = alt.Chart(table).encode(
        x=alt.X("p:Q", title="Probability given (mean)", scale=UNIT, axis=alt.Axis(format=".1f", tickCount=6)),
        tooltip=tooltips({"p": ("Mean probability", ".3f"), "share": ("Share of positives", ".3f"),
                          "low": ("Low", ".3f"), "high": ("High", ".3f"), 
                          "pairs": ("Pairs", ",d")}),
    )  # fmt: skip
    axis = alt.Axis(format=".1f", tickCount=6)
    share = alt.Y("share:Q", title="Share of positives", scale=UNIT, axis=axis)
    ideal = alt.Chart(pd.DataFrame({"p": [0.0, 1.0], "share": [0.0, 1.0]})).mark_line(
        color=NEUTRAL, strokeDash=[5, 4], strokeWidth=1.5
    ).encode(x=alt.X("p:Q", scale=UNIT), y=alt.Y("share:Q", scale=UNIT))  # fmt: skip
    intervals = base.encode(y=alt.Y("low:Q", title="Share of positives", scale=UNIT, axis=axis), y2="high:Q")
    return alt.layer(
        ideal,
        intervals.mark_area(color=MATCHER, opacity=0.14),
        intervals.mark_rule(color=MATCHER, strokeWidth=2),
        base.mark_line(color=MATCHER, strokeWidth=2).encode(y=share),
        base.mark_point(color=MATCHER, filled=True, size=70, opacity=1).encode(y=share),
    ).properties(height=HEIGHT + 40)


def describe_reliability(table: pd.DataFrame, name: str) -> str:
    """The share of positives in each tenth of p, in a sentence."""
    parts = [
        f"{one.share:.3f} at {one.p:.2f} (95% interval {one.low:.3f} to {one.high:.3f})" for one in table.itertuples()
    ]
    return f"Calibration of {name}: share of positives at mean probability: {', '.join(parts)}."


def in_words(table: pd.DataFrame) -> str:
    """How many tenths of p have an interval that holds their mean p, and which is farthest off."""
    off = table[(table["p"] < table["low"]) | (table["p"] > table["high"])]
    if off.empty:
        return "In every tenth the probability lies within the interval of the share: nothing speaks against it."
    worst = off.iloc[int((off["share"] - off["p"]).abs().to_numpy().argmax())]
    side = "too low" if worst.share > worst.p else "too high"
    return (
        f"In {len(off)} of {len(table)} tenths the probability lies outside the interval. It is farthest off at "
        f"{worst.p:.2f}, where {worst.share:.0%} are positives: {side}."
    )
