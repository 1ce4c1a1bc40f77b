"""Labels that contradict each other, corrected one after another, and what all labels imply."""

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.ui.pair_view import pair_texts
from allpairs.annotate.features.review.disagreements import Case, settle
from allpairs.annotate.features.review.transitivity import Algebra, ContradictionStep, algebra
from allpairs.annotate.features.review.ui.waiting import redraw_after
from allpairs.annotate.kit.text.formatting import literal, sentence
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.pair_history import TITLES
from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.pairs import Pair


def implied_by_labels(database: Engine, project_id: int, last: int) -> Algebra | None:
    """Return what the labels of one list imply, and their contradictions; last: the project's last answer."""
    return _algebra(str(database.url), project_id, last, database)


def what_labels_imply(implied: Algebra) -> None:
    """Draw how many pairs the labels of one list imply."""
    with st.expander("What the labels imply"):
        if not implied.groups:
            st.caption("Nothing yet: no pair is labelled a match.")
            return
        if implied.problem:
            st.warning(literal(sentence(implied.problem)))
        st.caption(
            f"Matches form {counted(implied.groups, 'group')}. They imply {implied.matches:,} more positive and "
            f"{implied.non_matches:,} more negative pairs. With “Train on implied pairs” (page “Settings”) these are "
            "used for training. They do not count as labels."
        )


@st.fragment
def contradictions(database: Engine, project_id: int, annotator: str, implied: Algebra, last: int) -> None:
    """Draw a contradiction between the labels of one list, with its corrections."""
    redraw_after(database, project_id, last)
    st.subheader("Contradictions", anchor=False)
    st.caption(
        f"{counted(implied.contradictions, 'label')} cannot be right together with others: if A matches B and B "
        "matches C, then A matches C. Correct the wrong one. Until then their groups imply nothing."
    )
    later: list[Pair] = st.session_state.setdefault(f"contradictions_{project_id}_{annotator}_later", [])
    first = min(implied.examples, key=lambda steps: later.index(_ends(steps)) + 1 if _ends(steps) in later else 0)
    with st.container(border=True, key="contradiction"):
        for step in first:
            _draw(database, project_id, annotator, step)
        if len(implied.examples) > 1:
            st.button(
                "Later",
                key="contradiction_later",
                type="tertiary",
                icon=":material/schedule:",
                on_click=_put_off,
                args=(later, _ends(first)),
            )


def _ends(steps: list[ContradictionStep]) -> Pair:
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


def _draw(database: Engine, project_id: int, annotator: str, step: ContradictionStep) -> None:
    """Draw one pair of the contradiction and its label, which can be changed."""
    case = step.case
    pair_texts(case.left, case.right, case.rows, whole=True)
    key = f"contradiction_{project_id}_{case.left_id}_{case.right_id}_{case.answer_id}"
    st.segmented_control(
        f"Labelled by {literal(step.annotator)}",
        LABELS,
        default=step.answer,
        required=True,
        key=key,
        format_func=TITLES.__getitem__,
        on_change=_change,
        args=(database, project_id, annotator, case, key),
    )


def _change(database: Engine, project_id: int, annotator: str, case: Case, key: str) -> None:
    with told(st.toast):
        settle(database, project_id, annotator, case, AnswerKind(st.session_state[key]))
