"""The plot of an entity audit: one figure of the groups by clustering and round, each with its interval."""

import altair as alt
import pandas as pd

from allpairs.annotate.kit.charts import Plot, between, share_axis, tooltips
from allpairs.annotate.monitor.rounds import round_name

ROW, AROUND = 40, 90  # pixels for a round of a clustering, and for axis and legend


def groups_chart(table: pd.DataFrame) -> Plot:
    """Return a point with its interval for each clustering and round. table: as in `EntityAudit`, of one figure."""
    shown = table.assign(name=table["round"].map(round_name), written=table["value"].map("{:.2f}".format))
    names = list(dict.fromkeys(shown["name"]))
    colours = [between(at / max(len(names) - 1, 1)) if len(names) > 1 else between(1) for at in range(len(names))]
    across = share_axis(float(shown["low"].min()), float(shown["high"].max()))
    numbers = {"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f")}
    base = alt.Chart(shown).encode(
        y=alt.Y("groups:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, domain=False, ticks=False)),
        yOffset=alt.YOffset("name:N", sort=names),
        color=alt.Color(
            "name:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(orient="bottom")
        ),
        tooltip=[alt.Tooltip("groups:N", title="Groups"), alt.Tooltip("name:N", title="Matcher"), *tooltips(numbers)],
    )
    title = str(shown["figure"].iloc[0])
    rules = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=alt.X("low:Q", title=title, **across), x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("value:Q", **across))
    words = base.mark_text(dy=-11, fontSize=12, fontWeight=600).encode(x=alt.X("value:Q", **across), text="written:N")
    return alt.layer(rules, points, words).properties(height=ROW * len(shown) + AROUND)


def describe_groups(table: pd.DataFrame) -> str:
    """Return a sentence with the figure of the newest round by clustering."""
    newest = table[table["round"] == table["round"].max()]
    exact = (newest["low"] == newest["high"]).all()
    parts = [
        f"{row.groups} {row.value:.3f}" + ("" if exact else f" ({row.low:.3f} to {row.high:.3f})")
        for row in newest.itertuples()
    ]
    of = f"{newest['figure'].iloc[0]} of the groups of {round_name(int(newest['round'].iloc[0]))}"
    return f"{of}, {'exact' if exact else 'with its 95% interval'}: {'; '.join(parts)}."
