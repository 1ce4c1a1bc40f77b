"""Review: settle pairs on which annotators disagree or are unsure, split groups, and see how well people agree."""

import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.labelling.own_answers import pair_history
from allpairs.annotate.review.disagreements import Case, opinions, queue, settle
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.text.measures import counted
from allpairs.annotate.ui.common.answers import TITLES
from allpairs.annotate.ui.common.pair_history import pair_acts
from allpairs.annotate.ui.review.agreement import agreement_section
from allpairs.annotate.ui.review.checks import checks_section
from allpairs.annotate.ui.review.contradictions import contradictions
from allpairs.annotate.ui.review.groups import label_groups
from allpairs.annotate.ui.state import annotator, current_project, engine
from allpairs.db.domain import LABELS, LONGEST_NOTE, AnswerKind, Kind, Settings
from allpairs.db.errors import InputError


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    st.title("Review", anchor=False)
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.")
        return
    desk(database, project.id, annotator(), Settings.model_validate(project.settings).question)
    if project.kind == Kind.SYMMETRIC:
        contradictions(database, project.id, annotator())
        label_groups(database, project.id, annotator())
    agreement_section(project.id)
    checks_section(project.id)


@st.fragment
def desk(database: Engine, project_id: int, who: str, question: str) -> None:
    """Draw the next pair to settle: blind first, then with the answers of others."""
    key = f"review_{project_id}_{who}"
    later = st.session_state.setdefault(f"{key}_later", set())
    found = queue(database, project_id, later)
    if found.next is None:
        st.success(
            "Nothing to review: annotators agree on every shared pair, and nobody is unsure. Open “Implied labels and "
            "conflicts” below to check whether labels of different pairs contradict each other."
        )
        return
    case = found.next
    here = f"{key}_{case.left_id}_{case.right_id}"
    st.caption(
        f"{counted(found.disagreements, 'pair')} with different answers, {counted(found.unsure, 'pair')} left unsure. "
        "Your answer becomes the label and is used for training."
    )
    with st.container(border=True, key="review_case"):
        st.markdown(f"**{literal(question)}**")
        for column, text in zip(st.columns(2), (case.left, case.right), strict=True):
            column.text(text)
        chosen = st.segmented_control(
            "Your answer", LABELS, format_func=TITLES.__getitem__, key=here,
            help="The answers of others appear after yours, so that they do not bias it.",
        )  # fmt: skip
        if chosen is None:
            st.button("Later", key=f"{here}_later", type="tertiary", icon=":material/schedule:",
                      on_click=later.add, args=((case.left_id, case.right_id),))  # fmt: skip
            return
        _others(database, project_id, case, who)
        note = st.text_input(
            "Note", key=f"{here}_note", max_chars=LONGEST_NOTE, placeholder="Reason, for similar pairs later"
        )
        st.button(
            f"Settle: {TITLES[chosen]}", key=f"{here}_settle", type="primary", icon=":material/gavel:",
            on_click=_settle, args=(database, project_id, who, case, chosen, note),
        )  # fmt: skip


def _others(database: Engine, project_id: int, case: Case, who: str) -> None:
    """Draw each annotator's answer."""
    votes = opinions(database, project_id, case)
    rows = [
        {"annotator": f"{vote.annotator} (you)" if vote.annotator == who else vote.annotator,
         "answer": TITLES[vote.answer], "note": vote.note, "at": f"{vote.at:%Y-%m-%d %H:%M} UTC"}
        for vote in votes
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Each annotator's answer")
    key = f"acts_{case.left_id}_{case.right_id}"
    with st.expander("Every answer to this pair", key=key, on_change="rerun") as opened:
        if opened.open:
            pair_acts(pair_history(database, project_id, case.left_id, case.right_id))


def _settle(database: Engine, project_id: int, who: str, case: Case, answer: AnswerKind, note: str) -> None:
    try:
        settle(database, project_id, who, case, answer, note)
    except InputError as error:
        st.toast(literal(str(error)))


main()
