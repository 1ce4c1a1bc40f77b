"""Review: settle pairs on which annotators disagree or are unsure, split groups, and see how well people agree."""

import pandas as pd
import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.last_answer import last_answer
from allpairs.annotate.features.label.own_answers import pair_history
from allpairs.annotate.features.label.ui.pair_view import pair_texts
from allpairs.annotate.features.review.disagreements import Case, opinions, queue, settle
from allpairs.annotate.features.review.ui.agreement import agreement_section
from allpairs.annotate.features.review.ui.checks import checks_section
from allpairs.annotate.features.review.ui.contradictions import contradictions, implied_by_labels, what_labels_imply
from allpairs.annotate.features.review.ui.groups import label_groups
from allpairs.annotate.features.review.ui.waiting import count_exactly, redraw_after
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.drafts import DRAFT
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.pair_history import TITLES, pair_acts
from allpairs.annotate.kit.ui.state import annotator, current_project, engine
from allpairs.db.domain import LABELS, LONGEST_NOTE, AnswerKind, Kind, Settings


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    st.title("Review", anchor=False)
    if project is None:
        st.info("There is no project yet. Create one on the page “New project”.")
        return
    last = last_answer(database, project.id)
    one_list = project.kind == Kind.SYMMETRIC
    review_desk(database, project.id, annotator(), Settings.model_validate(project.settings).question, last)
    with st.spinner("Looking for contradictions…"):
        implied = implied_by_labels(database, project.id, last) if one_list else None
        number = count_exactly(database, project.id, last)
    if implied is not None and implied.contradictions:
        contradictions(database, project.id, annotator(), implied, last)
    if not number:
        nothing(one_list, last)
    if implied is not None:
        what_labels_imply(implied)
        label_groups(database, project.id, annotator(), last)
    agreement_section(project.id)
    checks_section(project.id)


def nothing(one_list: bool, last: int) -> None:
    """Tell that nothing waits. last: the last answer, 0 for none."""
    if not last:
        st.info("Nothing to review yet: nobody has answered a pair.", icon=":material/hourglass:")
        return
    agree = "annotators agree on every shared pair, and nobody is unsure"
    sound = "annotators agree on every shared pair, nobody is unsure, and no labels contradict each other"
    st.success(f"Nothing to review: {sound if one_list else agree}.", icon=":material/check:")


@st.fragment
def review_desk(database: Engine, project_id: int, annotator_name: str, question: str, last: int) -> None:
    """Draw the next pair to settle, if there is one: blind first, then with the answers of others."""
    redraw_after(database, project_id, last)
    key = f"review_{project_id}_{annotator_name}"
    later = st.session_state.setdefault(f"{key}_later", set())
    cases = queue(database, project_id, later)
    if cases.next is None:
        return
    case = cases.next
    case_key = f"{key}_{case.left_id}_{case.right_id}"
    st.subheader("Pairs to settle", anchor=False)
    differ = f"{counted(cases.disagreements, 'pair')} with different answers" if cases.disagreements else ""
    unsure = f"{counted(cases.unsure, 'pair')} left unsure" if cases.unsure else ""
    waits = ", ".join(filter(None, [differ, unsure]))
    st.caption(f"{waits}. Your answer becomes the label. “Unsure” and audit pairs are not used for training.")
    with st.container(border=True, key="review_case"):
        st.markdown(f"**{literal(question)}**")
        pair_texts(case.left, case.right, case.rows, whole=True)
        chosen = st.segmented_control(
            "Your answer",
            LABELS,
            format_func=TITLES.__getitem__,
            key=case_key,
            help="The answers of others appear after yours, so that they do not bias it.",
        )
        if chosen is None:
            st.button(
                "Later",
                key=f"{case_key}_later",
                type="tertiary",
                icon=":material/schedule:",
                on_click=later.add,
                args=((case.left_id, case.right_id),),
            )
            return
        _others(database, project_id, case, annotator_name)
        note = st.text_input(
            "Note",
            key=f"{case_key}_note",
            max_chars=LONGEST_NOTE,
            placeholder="Reason, for similar pairs later",
            persist_state=DRAFT,
        )
        st.button(
            f"Settle: {TITLES[chosen]}",
            key=f"{case_key}_settle",
            type="primary",
            icon=":material/gavel:",
            on_click=_settle,
            args=(database, project_id, annotator_name, case, chosen, note),
        )


def _others(database: Engine, project_id: int, case: Case, annotator_name: str) -> None:
    """Draw each annotator's answer."""
    votes = opinions(database, project_id, case)
    rows = [
        {
            "annotator": f"{vote.annotator} (you)" if vote.annotator == annotator_name else vote.annotator,
            "answer": TITLES[vote.answer],
            "note": vote.note,
            "at": f"{vote.time:%Y-%m-%d %H:%M} UTC",
        }
        for vote in votes
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, alt="Each annotator's answer")
    key = f"acts_{case.left_id}_{case.right_id}"
    with st.expander("Every answer to this pair", key=key, on_change="rerun") as opened:
        if opened.open:
            pair_acts(pair_history(database, project_id, case.left_id, case.right_id))


def _settle(database: Engine, project_id: int, annotator_name: str, case: Case, answer: AnswerKind, note: str) -> None:
    with told(st.toast):
        settle(database, project_id, annotator_name, case, answer, note)


main()
