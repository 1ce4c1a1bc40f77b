"""The calibration plot: the share of positives against the matcher's probability."""

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import HEIGHT, MATCHER, NEUTRAL, Plot, share_axis, shares, tooltips
from allpairs.db.schema.tables import Evaluation, StoredModel
from allpairs.learner.light.stats.reliability import Tenth, tenths_of_histogram


def reliability_table(matcher: StoredModel, evaluation: Evaluation) -> pd.DataFrame:
    """Return one row for each tenth of p that holds pairs: mean p, share of positives, 95% interval.

    With audit labels, these are the worker's estimates; otherwise they come from the score histogram. Empty where a
    matcher has no probabilities, or where no positives are known.
    """
    if evaluation.by_audit:
        rows = evaluation.audit.get("reliability", [])
    else:
        rows = tenths_of_histogram(matcher.w, matcher.b, evaluation.histogram)
    return pd.DataFrame(rows, columns=list(Tenth.__dataclass_fields__))


def reliability_chart(table: pd.DataFrame) -> Plot:
    """Return a line with points and intervals by tenth of p; on the dashed diagonal the share equals p.

    table: of `reliability_table`.
    """
    begin, end = shares(float(table[["p", "low"]].min().min()), float(table[["p", "high"]].max().max()))
    axis = share_axis(begin, end)
    base = alt.Chart(table).encode(
        x=alt.X("p:Q", title="Mean probability", **axis),
        tooltip=tooltips(
            {
                "p": ("Mean probability", ".3f"),
                "share": ("Share of positives", ".3f"),
                "low": ("Low", ".3f"),
                "high": ("High", ".3f"),
                "pairs": ("Pairs", ",d"),
            }
        ),
    )
    share = alt.Y("share:Q", title="Share of positives", **axis)
    ideal = (
        alt.Chart(pd.DataFrame({"p": [begin, end], "share": [begin, end]}))
        .mark_line(color=NEUTRAL, strokeDash=[5, 4], strokeWidth=1.5)
        .encode(x=alt.X("p:Q", **axis), y=alt.Y("share:Q", **axis))
    )
    intervals = base.encode(y=alt.Y("low:Q", title="Share of positives", **axis), y2="high:Q")
    return alt.layer(
        ideal,
        intervals.mark_area(color=MATCHER, opacity=0.14),
        intervals.mark_rule(color=MATCHER, strokeWidth=2),
        base.mark_line(color=MATCHER, strokeWidth=2).encode(y=share),
        base.mark_point(color=MATCHER, filled=True, size=70, opacity=1).encode(y=share),
    ).properties(height=HEIGHT + 40)


def describe_reliability(table: pd.DataFrame, name: str) -> str:
    """Return a sentence with the share of positives in each tenth of p."""
    parts = [
        f"{row.share:.3f} at {row.p:.2f} (95% interval {row.low:.3f} to {row.high:.3f})" for row in table.itertuples()
    ]
    return f"Calibration of {name}: share of positives at mean probability: {', '.join(parts)}."


def calibration_in_words(table: pd.DataFrame) -> str:
    """Return how many tenths of p have an interval that excludes their mean p, and which is farthest off."""
    off = table[(table["p"] < table["low"]) | (table["p"] > table["high"])]
    if off.empty:
        return "In every tenth the mean probability lies within the interval of the share: no sign of miscalibration."
    worst = off.iloc[int((off["share"] - off["p"]).abs().to_numpy().argmax())]
    side = "too low" if worst.share > worst.p else "too high"
    return (
        f"In {len(off)} of {len(table)} tenths the mean probability lies outside the interval of the share. The worst "
        f"is {worst.p:.2f}, which is {side}: {worst.share:.0%} of these pairs are positives."
    )
