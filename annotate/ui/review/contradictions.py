"""Labels that contradict each other, put right one after another, and what all others imply."""

import streamlit as st
from sqlalchemy import Engine

from annotate.monitor.activity import last_answer
from annotate.review.disagreements import Case, settle
from annotate.review.transitivity import Algebra, Step, algebra
from annotate.text.formatting import literal
from annotate.text.measures import counted
from annotate.ui.common.answers import TITLES
from db.domain import LABELS, AnswerKind
from db.errors import InputError
from db.labels.pairs import Pair


@st.fragment
def contradictions(database: Engine, project_id: int, who: str) -> None:
    """Nothing; what follows from the labels of one list, and a contradiction with what changes it, once asked for."""
    with st.expander("What labels imply, and contradictions", key="show_implied", on_change="rerun") as opened:
        if not opened.open:
            return
        found = _algebra(str(database.url), project_id, last_answer(database, project_id), database)
        if found is None or not found.groups:
            st.caption("Nothing follows yet: no pair is labelled a match.")
            return
        _draw_all(database, project_id, who, found)


def _draw_all(database: Engine, project_id: int, who: str, found: Algebra) -> None:
    if found.problem:
        st.warning(literal(f"{found.problem[0].upper()}{found.problem[1:]}."))
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
    later: list[Pair] = st.session_state.setdefault(f"contradictions_{project_id}_{who}_later", [])
    first = min(found.shown, key=lambda steps: later.index(_ends(steps)) + 1 if _ends(steps) in later else 0)
    with st.container(border=True, key="contradiction"):
        for step in first:
            _draw(database, project_id, who, step)
        if len(found.shown) > 1:
            st.button("Later", key="contradiction_later", type="tertiary", icon=":material/schedule:",
                      on_click=_put_off, args=(later, _ends(first)))  # fmt: skip


def _ends(steps: list[Step]) -> Pair:
    """What tells a contradiction from others: the pair that is none."""
    return steps[-1].case.left_id, steps[-1].case.right_id


def _put_off(later: list[Pair], ends: Pair) -> None:
    """Nothing; this contradiction comes after all others."""
    if ends in later:
        later.remove(ends)
    later.append(ends)


@st.cache_data(max_entries=20, show_spinner=False)
def _algebra(database: str, project_id: int, last: int, _engine: Engine) -> Algebra | None:
    return algebra(_engine, project_id)


def _draw(database: Engine, project_id: int, who: str, step: Step) -> None:
    """Nothing; one pair of the contradiction, and its label, which can be changed."""
    case = step.case
    for column, text in zip(st.columns(2), (case.left, case.right), strict=True):
        column.text(text)
    key = f"contradiction_{project_id}_{case.left_id}_{case.right_id}_{case.answer_id}"
    st.segmented_control(
        f"Labelled by {literal(step.annotator)}", LABELS, default=step.answer, required=True, key=key,
        format_func=TITLES.__getitem__, on_change=_change, args=(database, project_id, who, case, key),
    )  # fmt: skip


def _change(database: Engine, project_id: int, who: str, case: Case, key: str) -> None:
    try:
        settle(database, project_id, who, case, AnswerKind(st.session_state[key]))
    except InputError as error:
        st.toast(literal(str(error)))
