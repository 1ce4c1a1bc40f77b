"""The plot of agreement: each coefficient with its interval."""

from collections.abc import Mapping

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import MATCHER, Plot, tooltips
from allpairs.db.estimate import Estimate

ROW = 34  # pixels
COLUMNS = ("coefficient", "value", "low", "high", "answers")


def agreement_table(found: Mapping[str, Estimate | None]) -> pd.DataFrame:
    """Return one row for each defined coefficient: value, 95% interval, and number of answers."""
    rows = [(name, one.value, one.low, one.high, one.labels) for name, one in found.items() if one is not None]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def agreement_chart(table: pd.DataFrame) -> Plot:
    """Return a chart with a point and an interval for each row of `agreement_table`, in its order."""
    low = min(0.0, float(table["low"].min()))
    scale = alt.Scale(domain=[low, 1])
    rows = alt.Y("coefficient:N", title=None, sort=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(table).encode(
        y=rows,
        tooltip=tooltips({"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f"),
                          "answers": ("Answers", ",d")}),
    )  # fmt: skip
    axis = alt.Axis(format=".1f", tickCount=6)
    interval = base.encode(x=alt.X("low:Q", title="Agreement", scale=scale, axis=axis), x2="high:Q")
    value = base.encode(x=alt.X("value:Q", title="Agreement", scale=scale, axis=axis))
    return alt.layer(
        interval.mark_rule(color=MATCHER, strokeWidth=2),
        value.mark_point(color=MATCHER, filled=True, size=80, opacity=1),
    ).properties(height=ROW * len(table) + 40)


def describe_agreement(table: pd.DataFrame) -> str:
    """Return a sentence with each coefficient and its interval."""
    parts = [f"{one.coefficient} {one.value:.3f} ({one.low:.3f} to {one.high:.3f})" for one in table.itertuples()]
    return f"Agreement of annotators with 95% intervals: {'; '.join(parts)}."
