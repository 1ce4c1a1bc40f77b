"""The groups that matches make, on the page Review, and the act that divides one."""

import streamlit as st
from sqlalchemy import Engine

from annotate.monitor.activity import last_answer
from annotate.review.split_group import Group, across, groups, last_split, split, undo
from annotate.text.formatting import beginning, literal
from annotate.text.measures import counted
from annotate.ui.explore.matches import paged
from db.errors import InputError
from db.labels.answers import Label
from db.projects.items import item_texts
from db.schema.engine import reading

SHOWN = 5  # groups on one page
TEXTS = 50  # of a group on one page
PAIRS = 20  # across a cut
WHAT = (
    "Texts that matches connect, directly or by way of others, are one group. Where one does not belong, split it: the "
    "labels across the cut become your “no”, which trains, and nobody is asked about them again."
)


@st.fragment
def label_groups(database: Engine, project_id: int, who: str) -> None:
    """Nothing; the groups of the labels of one list, largest first, are drawn once somebody asks."""
    with st.expander("Groups of texts that matches connect", key="show_groups", on_change="rerun") as opened:
        if opened.open:
            _draw_groups(database, project_id, who)


def _draw_groups(database: Engine, project_id: int, who: str) -> None:
    found = _groups(str(database.url), project_id, last_answer(database, project_id), database)
    last = last_split(database, project_id, who)
    st.caption(f"{counted(len(found), 'group')}. {WHAT}")
    if last is not None:
        _offer_undo(database, project_id, who, *last)
    page = paged(len(found), f"label_groups_{project_id}", SHOWN, "largest first")
    for group in found[page * SHOWN : (page + 1) * SHOWN]:
        with st.container(border=True, key=f"label_group_{group.items[0]}"):
            _group(database, project_id, who, group)


@st.cache_data(max_entries=20, show_spinner=False)
def _groups(database: str, project_id: int, last: int, _engine: Engine) -> list[Group]:
    return groups(_engine, project_id)


def _group(database: Engine, project_id: int, who: str, group: Group) -> None:
    """Nothing; draws the texts of a group, each with a box for those that do not belong, and what that would change."""
    held = f"held together by {counted(len(group.matches), 'label')}"
    st.caption(f"**{counted(len(group.items), 'text')}** {held}. Tick what to split off:")
    key = f"split_{project_id}_{group.items[0]}_{len(group.items)}"
    apart: set[int] = st.session_state.setdefault(f"{key}_apart", set())  # boxes on other pages keep nothing themselves
    page = paged(len(group.items), f"{key}_page", TEXTS, f"{len(apart):,} ticked on all of them")
    shown = group.items[page * TEXTS : (page + 1) * TEXTS]
    with reading(database) as session:
        texts = item_texts(session, shown)
    for item in shown:
        st.checkbox(
            literal(beginning(texts[item])), item in apart, key=f"{key}_{item}",
            on_change=apart.symmetric_difference_update, args=([item],),
        )  # fmt: skip
    if not apart:
        return
    cut = across(group.matches, apart)
    if not cut:
        st.caption("That is the whole group: leave out those that belong together.")
        return
    _against(database, cut)
    st.button(
        f"Split: answer {counted(len(cut), 'pair')} with no", key=f"{key}_do", type="primary",
        icon=":material/call_split:", on_click=_split, args=(database, project_id, who, cut),
    )  # fmt: skip


def _against(database: Engine, cut: list[Label]) -> None:
    """Nothing; draws the labels that stand against the split, and who gave them."""
    with reading(database) as session:
        texts = item_texts(session, [item for label in cut[:PAIRS] for item in (label.left_id, label.right_id)])
    lines = [
        f"- {literal(beginning(texts[label.left_id]))} **=** {literal(beginning(texts[label.right_id]))} "
        f"*({literal(label.annotator)})*"
        for label in cut[:PAIRS]
    ]
    more = [f"- *{len(cut) - PAIRS:,} more*"] if len(cut) > PAIRS else []
    st.markdown("\n".join(["Labelled a match, against this split:\n", *lines, *more]))


def _split(database: Engine, project_id: int, who: str, cut: list[Label]) -> None:
    try:
        split(database, project_id, who, {(label.left_id, label.right_id) for label in cut})
    except InputError as error:
        st.toast(literal(str(error)))


def _offer_undo(database: Engine, project_id: int, who: str, act: str, number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        arguments = (database, project_id, who, act)
        st.button("Undo", key="undo_split", icon=":material/undo:", on_click=undo, args=arguments)
        st.caption(f"Your last split: {counted(number, 'pair')} answered with no.")
