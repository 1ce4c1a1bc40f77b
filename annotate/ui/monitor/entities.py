"""The entity audit: what it is, the form that draws texts, and the figures of the groups."""

import streamlit as st

from allpairs.annotate.access.roles import Right
from allpairs.annotate.jobs import requests as jobs
from allpairs.annotate.monitor.entity_audit import DRAW, FIGURES, EntityAudit, read_entity_audit
from allpairs.annotate.monitor.entity_audit_chart import describe_groups, groups_chart
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.text.measures import counted
from allpairs.annotate.ui.common.figure import plot, table_behind
from allpairs.annotate.ui.state import engine, may
from allpairs.db.errors import InputError

WHAT = (
    "It measures groups of matches, not pairs. Texts are drawn at random, those of large groups more often. For each "
    "you label its candidates, the other texts of its group, and a few others to estimate what was missed. These "
    "labels never train a model and never change the groups that are measured."
)
MEANT = (
    "B³: for each text, how much of its group is right, and how much of its entity is in its group. Whole groups: how "
    "many groups are exactly an entity, and how many entities exactly a group. Intervals are 95%."
)
SHOWN = 4  # rounds, the newest ones


def entity_audit(project_id: int) -> None:
    """Draw the section with its heading."""
    st.subheader("Entity audit", anchor=False)
    st.caption(WHAT)
    found = read_entity_audit(engine(), project_id)
    if may(Right.CHANGE, project_id):
        _form(project_id, updates=found is not None)
    if found is not None:
        _figures(found)


def _form(project_id: int, updates: bool) -> None:
    """Draw the number of texts to draw, and the buttons that draw them or measure again."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        texts = st.number_input("Texts to draw", 1, 1_000, DRAW, step=5, width=160, key="entities_draw")
        drawing = st.button("Draw texts", key="draw_entities", icon=":material/casino:")
        updating = updates and st.button("Update group figures", key="update_entities", icon=":material/refresh:")
    if drawing or updating:
        try:
            jobs.request_entities(engine(), project_id, texts if drawing else 0)
        except InputError as problem:
            st.error(literal(str(problem)), icon=":material/error:")
        else:
            st.rerun()


def _figures(found: EntityAudit) -> None:
    """Draw how far the audit is, and one figure of the groups by clustering and round."""
    if found.table.empty:
        st.caption(f"{counted(found.drawn, 'text')} drawn. The figures come when 20 are complete.")
        return
    st.caption(
        f"{found.complete:,} of {counted(found.drawn, 'text')} complete, with {counted(found.labels, 'labelled pair')}."
    )
    there = set(found.table["figure"])
    chosen = st.selectbox("Figure", [one for one in FIGURES.values() if one in there], key="entities_figure", width=260)
    table = found.table[found.table["figure"] == chosen]
    rounds = sorted(set(table["round"]))[-SHOWN:]
    table = table[table["round"].isin(rounds)]
    plot(groups_chart, table, described=describe_groups(table))
    st.caption(MEANT)
    table_behind(found.table, "groups")
