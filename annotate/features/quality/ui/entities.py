"""The figures of groups: what an entity audit is, the form that draws texts and measures, and what was found."""

import altair as alt
import pandas as pd
import streamlit as st

from allpairs.annotate.features.quality.entity_audit import DRAW, EXACT, FIGURES, EntityAudit, read_entity_audit
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.charts import Plot, between, share_axis, tooltips
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.annotate.kit.ui.state import engine, may

ROW = 40  # pixels for a round of a clustering
AROUND = 90  # pixels for axis and legend


def groups_chart(table: pd.DataFrame) -> Plot:
    """Return a point with its interval for each clustering and round. table: as in `EntityAudit`, of one figure."""
    drawn = table.assign(name=table["round"].map(round_name), written=table["value"].map("{:.2f}".format))
    names = list(dict.fromkeys(drawn["name"]))
    colours = [between(i / max(len(names) - 1, 1)) if len(names) > 1 else between(1) for i in range(len(names))]
    across = share_axis(float(drawn["low"].min()), float(drawn["high"].max()))
    numbers = {"value": ("Value", ".3f"), "low": ("Low", ".3f"), "high": ("High", ".3f")}
    base = alt.Chart(drawn).encode(
        y=alt.Y("groups:N", title=None, sort=None, axis=alt.Axis(labelLimit=180, domain=False, ticks=False)),
        yOffset=alt.YOffset("name:N", sort=names),
        color=alt.Color(
            "name:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(orient="bottom")
        ),
        tooltip=[alt.Tooltip("groups:N", title="Groups"), alt.Tooltip("name:N", title="Matcher"), *tooltips(numbers)],
    )
    title = str(drawn["figure"].iloc[0])
    rules = base.mark_rule(strokeWidth=3, opacity=0.45).encode(x=alt.X("low:Q", title=title, **across), x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("value:Q", **across))
    words = base.mark_text(dy=-11, fontSize=12, fontWeight=600).encode(x=alt.X("value:Q", **across), text="written:N")
    return alt.layer(rules, points, words).properties(height=ROW * len(drawn) + AROUND)


def describe_groups(table: pd.DataFrame) -> str:
    """Return a sentence with the figure of the newest round by clustering."""
    newest = table[table["round"] == table["round"].max()]
    exact = (newest["low"] == newest["high"]).all()
    parts = [
        f"{row.groups} {row.value:.3f}" + ("" if exact else f" ({row.low:.3f} to {row.high:.3f})")
        for row in newest.itertuples()
    ]
    subject = f"{newest['figure'].iloc[0]} of the groups of {round_name(int(newest['round'].iloc[0]))}"
    return f"{subject}, {'exact' if exact else 'with its 95% interval'}: {'; '.join(parts)}."


EXPLANATION = (
    "It measures groups of matches, not pairs. Texts are drawn at random, those of large groups more often. For each "
    "you label its candidates, the other texts of its group, and a few others to estimate what was missed. These "
    "labels never train a model and never change the groups that are measured."
)
GOLD = "Here the known pairs measure groups exactly, without labels: update the group figures."
MEANT = (
    "B³: for each text, how much of its group is right, and how much of its entity is in its group. Whole groups: how "
    "many groups are exactly an entity, and how many entities exactly a group."
)
INTERVALS = "Intervals are 95%."
NEWEST_ROUNDS = 4  # rounds, the newest ones


def entity_audit(project_id: int, gold: bool) -> None:
    """Draw the section with its heading. gold: whether known pairs measure groups of the project."""
    st.subheader("Entity audit", anchor=False)
    st.caption(f"{EXPLANATION} {GOLD}" if gold else EXPLANATION)
    audit = read_entity_audit(engine(), project_id)
    if may(Right.CHANGE, project_id):
        _form(project_id, updates=gold or audit.drawn > 0)
    if audit.methods:
        _figures(audit)
    if audit.drawn and audit.methods in ([], [EXACT]):
        st.caption(f"{counted(audit.drawn, 'text')} drawn. The figures of the audit come when 20 are complete.")


def _form(project_id: int, updates: bool) -> None:
    """Draw the number of texts to draw, and the buttons that draw them or measure again."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = st.number_input("Texts to draw", 1, 1_000, DRAW, step=5, width=160, key="entities_draw")
        drawing = st.button("Draw texts", key="draw_entities", icon=":material/casino:")
        updating = updates and st.button("Update group figures", key="update_entities", icon=":material/refresh:")
    if drawing or updating:
        with told():
            jobs.request_entities(engine(), project_id, texts if drawing else 0)
            st.rerun()


def _figures(audit: EntityAudit) -> None:
    """Draw one figure of the groups by clustering and round, and what it rests on."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = _method(audit)
        table = audit.by(method)
        figures = [figure for figure in FIGURES.values() if figure in set(table["figure"])]
        chosen = st.selectbox("Figure", figures, key="entities_figure", width=260)
    st.caption(_rests_on(audit, method))
    table = table[table["figure"] == chosen]
    rounds = sorted(set(table["round"]))[-NEWEST_ROUNDS:]
    table = table[table["round"].isin(rounds)]
    plot(groups_chart, table, described=describe_groups(table))
    st.caption(MEANT if method == EXACT else f"{MEANT} {INTERVALS}")
    table_behind(audit.table, "groups")


def _method(audit: EntityAudit) -> str:
    """Return the chosen method, the exact one at first; drawn where there are both."""
    if len(audit.methods) == 1:
        return audit.methods[0]
    return st.selectbox("Measured by", audit.methods, format_func=_title, key="entities_method", width=180)


def _title(method: str) -> str:
    return "Known pairs" if method == EXACT else "Entity audit"


def _rests_on(audit: EntityAudit, method: str) -> str:
    """Return what the figures of this method rest on."""
    if method == EXACT:
        return "Exact, by the known pairs."
    drawn = counted(audit.drawn, "drawn text")
    return f"Audited on {audit.complete:,} of {drawn}, with {counted(audit.labels, 'labelled pair')}."
