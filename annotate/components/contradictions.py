"""Labels that contradict each other, put right one after another, and what all others imply."""

import streamlit as st
from sqlalchemy import Engine

from annotate.components.answers import TITLES
from annotate.contradictions import Algebra, Step, algebra
from annotate.figures import counted
from annotate.reviewing import Case, settle
from annotate.wording import literal
from annotate.work import last_answer
from db.domain import LABELS, AnswerKind, InputError


@st.fragment
def contradictions(database: Engine, project_id: int, who: str) -> None:
    """Nothing; the first contradiction is drawn with what changes it, where the project has one list."""
    found = _algebra(str(database.url), project_id, last_answer(database, project_id), database)
    if found is None or not (found.groups or found.problem):
        return
    st.subheader("What labels imply", anchor=False)
    if found.problem:
        st.warning(literal(f"{found.problem[0].upper()}{found.problem[1:]}."))
        return
    st.caption(
        f"Matches make {counted(found.groups, 'group')}. From them follow {found.matches:,} more matches and "
        f"{found.others:,} more pairs that are none: with “Train on what follows” (Settings) they train, but they are "
        "nobody's labels and are counted as none."
    )
    if not found.shown:
        st.success("No label contradicts another.")
        return
    st.warning(
        f"{counted(found.contradictions, 'label')} cannot be right together with others. Nothing follows from "
        "their groups until one of them is changed."
    )
    with st.container(border=True, key="contradiction"):
        for step in found.shown[0]:
            _draw(database, project_id, who, step)


@st.cache_data(max_entries=20, show_spinner=False)
def _algebra(database: str, project_id: int, last: int, _engine: Engine) -> Algebra | None:
    return algebra(_engine, project_id)


def _draw(database: Engine, project_id: int, who: str, step: Step) -> None:
    """Nothing; one pair of the contradiction, and its label, which can be changed."""
    case = step.case
    for column, text in zip(st.columns(2), (case.left, case.right), strict=True):
        column.text(text)
    key = f"contradiction_{project_id}_{case.left_id}_{case.right_id}"
    st.segmented_control(
        f"Labelled by {literal(step.annotator)}", LABELS, default=step.answer, required=True, key=key,
        format_func=TITLES.__getitem__, on_change=_change, args=(database, project_id, who, case, key),
    )  # fmt: skip


def _change(database: Engine, project_id: int, who: str, case: Case, key: str) -> None:
    try:
        settle(database, project_id, who, case, AnswerKind(st.session_state[key]))
    except InputError as error:
        st.toast(literal(str(error)))
