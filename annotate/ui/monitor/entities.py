"""The figures of groups: what an entity audit is, the form that draws texts and measures, and what was found."""

import streamlit as st

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.figure import plot, table_behind
from allpairs.annotate.kit.ui.state import engine, may
from allpairs.annotate.monitor.charts.entity_audit import describe_groups, groups_chart
from allpairs.annotate.monitor.entity_audit import DRAW, EXACT, FIGURES, EntityAudit, read_entity_audit

WHAT = (
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
SHOWN = 4  # rounds, the newest ones


def entity_audit(project_id: int, gold: bool) -> None:
    """Draw the section with its heading. gold: whether known pairs measure groups of the project."""
    st.subheader("Entity audit", anchor=False)
    st.caption(f"{WHAT} {GOLD}" if gold else WHAT)
    found = read_entity_audit(engine(), project_id)
    if may(Right.CHANGE, project_id):
        _form(project_id, updates=gold or found.drawn > 0)
    if found.methods:
        _figures(found)
    if found.drawn and found.methods in ([], [EXACT]):
        st.caption(f"{counted(found.drawn, 'text')} drawn. The figures of the audit come when 20 are complete.")


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


def _figures(found: EntityAudit) -> None:
    """Draw one figure of the groups by clustering and round, and what it rests on."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        method = _method(found)
        table = found.by(method)
        there = [one for one in FIGURES.values() if one in set(table["figure"])]
        chosen = st.selectbox("Figure", there, key="entities_figure", width=260)
    st.caption(_rests_on(found, method))
    table = table[table["figure"] == chosen]
    rounds = sorted(set(table["round"]))[-SHOWN:]
    table = table[table["round"].isin(rounds)]
    plot(groups_chart, table, described=describe_groups(table))
    st.caption(MEANT if method == EXACT else f"{MEANT} {INTERVALS}")
    table_behind(found.table, "groups")


def _method(found: EntityAudit) -> str:
    """Return the chosen method, the exact one at first; drawn where there are both."""
    if len(found.methods) == 1:
        return found.methods[0]
    return st.selectbox("Measured by", found.methods, format_func=_title, key="entities_method", width=180)


def _title(method: str) -> str:
    return "Known pairs" if method == EXACT else "Entity audit"


def _rests_on(found: EntityAudit, method: str) -> str:
    """Return what the figures of this method rest on."""
    if method == EXACT:
        return "Exact, by the known pairs."
    drawn = counted(found.drawn, "drawn text")
    return f"Audited on {found.complete:,} of {drawn}, with {counted(found.labels, 'labelled pair')}."
