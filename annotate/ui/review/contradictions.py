"""Contradictory labels, corrected one after another, and the labels that all others imply."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.monitor.activity import last_answer
from allpairs.annotate.review.disagreements import Case, settle
from allpairs.annotate.review.transitivity import Algebra, Step, algebra
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.text.measures import counted
from allpairs.annotate.ui.common.answers import TITLES
from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair


@st.fragment
def contradictions(database: Engine, project_id: int, who: str) -> None:
    """Draw, once asked for, what the labels of one list imply, and a contradiction with its corrections."""
    with st.expander("Implied labels and conflicts", key="show_implied", on_change="rerun") as opened:
        if not opened.open:
            return
        found = _algebra(str(database.url), project_id, last_answer(database, project_id), database)
        if found is None or not found.groups:
            st.caption("Nothing is implied yet: no pair is labelled a match.")
            return
        _draw_all(database, project_id, who, found)


def _draw_all(database: Engine, project_id: int, who: str, found: Algebra) -> None:
    if found.problem:
        st.warning(literal(f"{found.problem[0].upper()}{found.problem[1:]}."))
    st.caption(
        f"Matches form {counted(found.groups, 'group')}. They imply {found.matches:,} more positive and "
        f"{found.others:,} more negative pairs. With “Train on implied pairs” (page “Settings”) these are used for "
        "training. They do not count as labels."
    )
    if not found.shown:
        st.success("No labels contradict each other.")
        return
    st.warning(
        f"{counted(found.contradictions, 'label')} cannot be right together with others. Their groups imply nothing "
        "until one of the labels is changed."
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
    """Return the pair of the contradiction that is labelled negative; it tells contradictions apart."""
    return steps[-1].case.left_id, steps[-1].case.right_id


def _put_off(later: list[Pair], ends: Pair) -> None:
    """Move this contradiction behind all others."""
    if ends in later:
        later.remove(ends)
    later.append(ends)


@st.cache_data(max_entries=20, show_spinner=False)
def _algebra(database: str, project_id: int, last: int, _engine: Engine) -> Algebra | None:
    return algebra(_engine, project_id)


def _draw(database: Engine, project_id: int, who: str, step: Step) -> None:
    """Draw one pair of the contradiction and its label, which can be changed."""
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
