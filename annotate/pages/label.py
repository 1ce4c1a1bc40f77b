"""Label pairs: the card, the guidelines, and what happens meanwhile."""

from uuid import uuid4

import streamlit as st
from sqlalchemy import Engine

from annotate.app_state import annotator, current_project, engine
from annotate.components.card import card, outbox, why_empty
from annotate.components.job_status import failure, progress_in_words
from annotate.jobs import request_round
from annotate.labelling import Pair, Reason, Receipt, Standing, ask_if_due, look, record, serve
from annotate.wording import literal
from db.domain import AnswerKind, InputError, Settings
from db.jobs import OPEN
from db.models import Job

BUTTONS = (
    (AnswerKind.POSITIVE, "Yes"),
    (AnswerKind.NEGATIVE, "No"),
    (AnswerKind.UNSURE, "Unsure"),
    (AnswerKind.SKIP, "Skip"),
)


def main() -> None:
    """Nothing; the page is shown."""
    database = engine()
    project = current_project(database)
    if project is None:
        st.title("Label")
        st.info("There is no project yet. Make one from a file of texts on the page “New project”.")
        return
    settings = Settings.model_validate(project.settings)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", wrap=False):
        st.header(literal(project.name), anchor=False)
        with st.popover("Guidelines", icon=":material/menu_book:", key="guidelines"):
            st.markdown(settings.guidelines or "This project has no guidelines. They can be written in its settings.")
    desk(database, project.id, annotator(), settings.question)


@st.fragment
def desk(database: Engine, project_id: int, who: str, question: str) -> None:
    """Nothing; answers that the browser sent are stored, and the next pairs are on the page."""
    key = f"card-{project_id}-{who}"
    attempt, events = outbox(key)
    receipt = record(database, project_id, who, events) if events else Receipt([], {})
    pairs, standing = serve(database, project_id, who)
    card(key, project_id, who, question, attempt, receipt, pairs, standing)
    if standing.note:
        st.info(literal(standing.note))
    if not pairs or standing.progress.complete or is_open(standing.job):
        meanwhile(database, project_id, who, standing)
    without_keyboard(database, project_id, who, question, pairs[0] if pairs else None, standing)


@st.fragment(run_every=2)
def meanwhile(database: Engine, project_id: int, who: str, shown: Standing) -> None:
    """Nothing; the work under way is shown, and the page drawn anew when there is something new to label."""
    ask_if_due(database, project_id)
    standing = look(database, project_id, who)
    if _outline(standing) != _outline(shown):
        st.rerun()
    job = standing.job
    if job is not None and is_open(job):
        waited_for = standing.progress.complete or standing.reason is not None
        what = "The next batch is being made" if waited_for else "In the background the model is measured"
        st.progress(min(max(job.fraction, 0.0), 1.0), f"{what}: {progress_in_words(job)}")
        return
    if job is not None and job.state == "failed":
        failure(job)
    if standing.progress.complete or standing.reason in (Reason.NO_BATCH, Reason.EMPTY):
        st.button("Make the next batch", key="make_next_batch", on_click=ask_for_batch, args=(database, project_id))


def is_open(job: Job | None) -> bool:
    """Whether the job is waiting or running."""
    return job is not None and job.state in OPEN


def _outline(standing: Standing) -> tuple[object, ...]:
    """What of the standing changes the page around the card."""
    return standing.reason, standing.progress.number, is_open(standing.job)


def ask_for_batch(database: Engine, project_id: int) -> None:
    """Nothing; the job that makes the next batch is waiting."""
    try:
        request_round(database, project_id)
    except InputError as error:
        st.toast(str(error))


def without_keyboard(
    database: Engine, project_id: int, who: str, question: str, pair: Pair | None, standing: Standing
) -> None:
    """Nothing; the same pair with the buttons of Streamlit itself."""
    with st.expander("No keyboard? / without JavaScript", key="without_keyboard"):
        if pair is None:
            st.text(why_empty(standing))
            return
        st.text(question)
        for column, text in zip(st.columns(2), (pair.left, pair.right), strict=True):
            column.text(text)
        for column, (answer, label) in zip(st.columns(len(BUTTONS)), BUTTONS, strict=True):
            column.button(
                label,
                key=f"answer_{pair.task_id}_{answer}",  # of this pair: a second click never labels the next one unseen
                on_click=answer_pair,
                args=(database, project_id, who, pair.task_id, answer),
                width="stretch",
            )


def answer_pair(database: Engine, project_id: int, who: str, task_id: int, answer: AnswerKind) -> None:
    """Nothing; the answer is stored."""
    record(database, project_id, who, [{"key": f"button-{uuid4()}", "task_id": task_id, "answer": answer}])


main()
