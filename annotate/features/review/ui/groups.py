"""Groups of matching texts on the page Review, and the form that splits one."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.explore.ui.matches import paged
from allpairs.annotate.features.review.split_group import (
    LabelGroup,
    across,
    groups_of_labels,
    last_split,
    split,
    undo_split,
)
from allpairs.annotate.features.review.ui.waiting import redraw_after
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.db.labels.answers import Label
from allpairs.db.projects.items import item_texts
from allpairs.db.schema.engine import reading

PAGE_SIZE = 5  # groups on one page
TEXTS = 50  # of a group on one page
PAIRS = 20  # of a cut that are listed
EXPLANATION = (
    "Texts connected by matches, directly or through others, form one group. If a text does not belong, split the "
    "group: the matches across the split become your “no”. It replaces the label, and nobody is asked again."
)


@st.fragment
def label_groups(database: Engine, project_id: int, annotator: str, last: int) -> None:
    """Draw the groups of the labels of one list, largest first, once somebody asks. last: the last answer."""
    redraw_after(database, project_id, last)
    with st.expander("Groups of matching texts", key="show_groups", on_change="rerun") as opened:
        if opened.open:
            _draw_groups(database, project_id, annotator, last)


def _draw_groups(database: Engine, project_id: int, annotator: str, last: int) -> None:
    groups_ = _groups(str(database.url), project_id, last, database)
    act = last_split(database, project_id, annotator)
    st.caption(f"{counted(len(groups_), 'group')}. {EXPLANATION}")
    if act is not None:
        _offer_undo(database, project_id, annotator, *act)
    page = paged(len(groups_), f"label_groups_{project_id}", PAGE_SIZE, "largest first")
    for group in groups_[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]:
        with st.container(border=True, key=f"label_group_{group.items[0]}"):
            _group(database, project_id, annotator, group)


@st.cache_data(max_entries=20, show_spinner=False)
def _groups(database: str, project_id: int, last: int, _engine: Engine) -> list[LabelGroup]:
    return groups_of_labels(_engine, project_id)


def _group(database: Engine, project_id: int, annotator: str, group: LabelGroup) -> None:
    """Draw the texts of a group, each with a box for those that do not belong, and the effect of splitting them off."""
    connection = f"connected by {counted(len(group.matches), 'label')}"
    st.caption(f"**{counted(len(group.items), 'text')}** {connection}. Tick the texts to split off:")
    key = f"split_{project_id}_{group.items[0]}_{len(group.items)}"
    ticked: set[int] = st.session_state.setdefault(f"{key}_apart", set())  # boxes on other pages lose their state
    page = paged(len(group.items), f"{key}_page", TEXTS, f"{len(ticked):,} ticked on all of them")
    page_items = group.items[page * TEXTS : (page + 1) * TEXTS]
    with reading(database) as session:
        texts = item_texts(session, page_items)
    for item in page_items:
        st.checkbox(
            literal(beginning(texts[item])),
            item in ticked,
            key=f"{key}_{item}",
            on_change=ticked.symmetric_difference_update,
            args=([item],),
        )
    if not ticked:
        return
    cut = across(group.matches, ticked)
    if not cut:
        st.caption("All texts are ticked. Leave those that belong together unticked.")
        return
    _against(database, cut)
    st.button(
        f"Split: answer {counted(len(cut), 'pair')} with no",
        key=f"{key}_do",
        type="primary",
        icon=":material/call_split:",
        on_click=_split,
        args=(database, project_id, annotator, cut),
    )


def _against(database: Engine, cut: list[Label]) -> None:
    """Draw the labels that contradict the split, and who gave them."""
    with reading(database) as session:
        texts = item_texts(session, [item for label in cut[:PAIRS] for item in (label.left_id, label.right_id)])
    lines = [
        f"- {literal(beginning(texts[label.left_id]))} **=** {literal(beginning(texts[label.right_id]))} "
        f"*({literal(label.annotator)})*"
        for label in cut[:PAIRS]
    ]
    more = [f"- *{len(cut) - PAIRS:,} more*"] if len(cut) > PAIRS else []
    st.markdown("\n".join(["Labelled as matches across this split:\n", *lines, *more]))


def _split(database: Engine, project_id: int, annotator: str, cut: list[Label]) -> None:
    with told(st.toast):
        split(database, project_id, annotator, {(label.left_id, label.right_id) for label in cut})


def _offer_undo(database: Engine, project_id: int, annotator: str, act: str, number: int) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        arguments = (database, project_id, annotator, act)
        st.button("Undo", key="undo_split", icon=":material/undo:", on_click=undo_split, args=arguments)
        st.caption(f"Your last split: {counted(number, 'pair')} answered with no.")
