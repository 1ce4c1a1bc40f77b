"""The plot of a correction: the precision in its forms, each with its interval."""

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import MATCHER, NEUTRAL, Plot, share_axis, tooltips
from allpairs.annotate.monitor.false_negatives import FORMS

ROW, AROUND = 52, 60  # pixels for a form, and for the axis


def correction_chart(table: pd.DataFrame) -> Plot:
    """Return a point with its interval for each form, the recommended one in colour. table: of `precisions_table`."""
    shown = table.assign(
        written=table["value"].map("{:.3f}".format), believed=table["precision"] == FORMS["consistent"]
    )
    across = share_axis(float(shown["low"].min()), float(shown["high"].max()))
    numbers = {"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f")}
    base = alt.Chart(shown).encode(
        y=alt.Y("precision:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, domain=False, ticks=False)),
        color=alt.condition("datum.believed", alt.value(MATCHER), alt.value(NEUTRAL)),
        tooltip=[alt.Tooltip("precision:N", title="Precision"), *tooltips(numbers)],
    )
    rules = base.mark_rule(strokeWidth=3, opacity=0.45).encode(
        x=alt.X("low:Q", title="Precision", **across), x2="high:Q"
    )
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("value:Q", **across))
    words = base.mark_text(dy=-13, fontSize=13, fontWeight=600).encode(x=alt.X("value:Q", **across), text="written:N")
    return alt.layer(rules, points, words).properties(height=ROW * len(shown) + AROUND)


def describe_correction(table: pd.DataFrame) -> str:
    """Return a sentence with the precision in each form and its interval."""
    parts = [f"{row.precision} {row.value:.3f} ({row.low:.3f} to {row.high:.3f})" for row in table.itertuples()]
    return f"Precision with its 95% interval: {'; '.join(parts)}."
