"""Label pairs: the card, the guidelines, and what happens meanwhile."""

from uuid import uuid4

import streamlit as st
from sqlalchemy import Engine

from annotate.access.roles import Right
from annotate.explore.pair_reason import last_answered, reasons
from annotate.jobs.requests import request_round
from annotate.labelling.end_audit import drop_audit_batch
from annotate.labelling.queue import (
    AuditBatch,
    Reason,
    Receipt,
    Standing,
    ask_if_due,
    audit_batch_of,
    look,
    recent,
    record,
    serve,
)
from annotate.labelling.shown_pairs import Pair
from annotate.text.formatting import literal
from annotate.ui.common.errors import explained
from annotate.ui.common.job_status import failure, progress_in_words
from annotate.ui.label.card import AUDIT_BATCHES, card, outbox, why_empty
from annotate.ui.label.why import why
from annotate.ui.state import annotator, current_project, engine, may
from db.domain import AnswerKind, DesignKind, Kind, Settings
from db.errors import InputError
from db.projects.jobs import NEXT_ROUND, OPEN
from db.schema.tables import Job

BUTTONS = (
    (AnswerKind.POSITIVE, "Yes"),
    (AnswerKind.NEGATIVE, "No"),
    (AnswerKind.UNSURE, "Unsure"),
    (AnswerKind.SKIP, "Skip"),
)
BATCH, AUDIT_BATCH = "batch", "audit"  # the queues to choose from


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
    desk(database, project.id, annotator(), settings.question, project.kind == Kind.BIPARTITE)


@st.fragment
def desk(database: Engine, project_id: int, who: str, question: str, bipartite: bool) -> None:
    """Nothing; answers that the browser sent are stored, and the next pairs are on the page."""
    with explained():  # the browser keeps an answer that is not acknowledged, and sends it again
        _desk(database, project_id, who, question, bipartite)


def _desk(database: Engine, project_id: int, who: str, question: str, bipartite: bool) -> None:
    key = f"card-{project_id}-{who}"
    attempt, events = outbox(key)
    receipt = record(database, project_id, who, events) if events else Receipt([], {})
    audit_batch, grouped = choose_queue(database, project_id), choose_view(project_id) if bipartite else False
    pairs, standing = serve(database, project_id, who, audit_batch=audit_batch is not None, grouped=grouped)
    before = [] if attempt else recent(database, project_id, who, audit_batch=audit_batch is not None)
    card(key, project_id, who, question, attempt, receipt, pairs, standing, audit_batch, before, grouped)
    if standing.note:
        st.info(literal(standing.note))
    if audit_batch is not None and standing.reason is Reason.COMPLETE and may(Right.SEE, project_id):
        page = "pipelines" if audit_batch.kind == DesignKind.MINED else "monitor"
        label = f"See the figures on the {page.capitalize()} page"
        st.page_link(f"../pages/{page}.py", label=label, icon=":material/monitoring:")
    if not pairs or standing.progress.complete or is_open(standing.job):
        meanwhile(database, project_id, who, _outline(standing, audit_batch), audit_batch)
    why_last(database, project_id, who)
    without_keyboard(database, project_id, who, question, pairs[0] if pairs else None, standing, audit_batch)


@st.fragment
def why_last(database: Engine, project_id: int, who: str) -> None:
    """Nothing; why the pair that was answered last had been put up is on the page, once somebody asks."""
    with st.expander("Why was the last pair put up?", key="why_last", on_change="rerun") as opened:
        if not opened.open:
            return
        task = last_answered(database, project_id, who)
        if task is None:
            st.write("Nothing is answered yet. Before an answer the reasons would sway it.")
        else:
            found = reasons(database, project_id, task)
            for column, text in zip(st.columns(2), (found.left, found.right), strict=True):
                column.text(text)
            why(found)


def choose_queue(database: Engine, project_id: int) -> AuditBatch | None:
    """The audit batch, if that is to be labelled and not the batch; the choice is offered while there is one."""
    audit_batch, key = audit_batch_of(database, project_id), f"queue_{project_id}"
    if audit_batch is None or not (audit_batch.left or st.session_state.get(key) == AUDIT_BATCH):
        return None
    titles = {BATCH: "Batch", AUDIT_BATCH: f"{AUDIT_BATCHES[audit_batch.kind]} ({audit_batch.left} left)"}
    with st.container(horizontal=True, vertical_alignment="center"):
        chosen = st.segmented_control(
            "What to label", list(titles), default=BATCH, required=True, format_func=titles.__getitem__, key=key,
            label_visibility="collapsed", persist_state="session",
        )  # fmt: skip
        if chosen == AUDIT_BATCH and audit_batch.left and may(Right.CHANGE, project_id):
            offer_to_drop(database, project_id, audit_batch.left)
    return audit_batch if chosen == AUDIT_BATCH else None


def choose_view(project_id: int) -> bool:
    """Whether all candidates of one left text are to be shown together."""
    views = {False: "One pair at a time", True: "One question, its candidates"}
    return bool(
        st.segmented_control(
            "How pairs are shown", list(views), default=False, required=True, format_func=views.__getitem__,
            key=f"view_{project_id}", label_visibility="collapsed", persist_state="session",
        )
    )  # fmt: skip


def offer_to_drop(database: Engine, project_id: int, left: int) -> None:
    """Nothing; a button that ends the audit batch before its time is on the page, behind another one."""
    with st.popover("End early", type="tertiary", key=f"end_sitting_{project_id}"):
        st.write("What is answered counts. The pairs that nobody has answered are dropped, for every annotator.")
        drop = f"Drop {left} pair{'s' if left > 1 else ''}"
        st.button(
            drop, key="drop_sitting", icon=":material/delete:", on_click=drop_audit_batch, args=(database, project_id)
        )


@st.fragment(run_every=2)
def meanwhile(
    database: Engine, project_id: int, who: str, shown: tuple[object, ...], audit_batch: AuditBatch | None
) -> None:
    """Nothing; the work under way is shown, and the page drawn anew when its outline is another than what is shown."""
    ask_if_due(database, project_id)
    standing = look(database, project_id, who, audit_batch=audit_batch is not None)
    if _outline(standing, audit_batch) != shown:
        st.rerun()
    job = standing.job
    if job is not None and is_open(job):
        what = _under_way(job, standing, audit_batch)
        st.progress(min(max(job.fraction, 0.0), 1.0), f"{what}: {progress_in_words(job)}")
        return
    if job is not None and job.state == "failed":
        failure(job)
    due = audit_batch is None and (standing.progress.complete or standing.reason in (Reason.NO_BATCH, Reason.EMPTY))
    if due and may(Right.CHANGE, project_id):
        st.button("Make the next batch", key="make_next_batch", on_click=ask_for_batch, args=(database, project_id))


def is_open(job: Job | None) -> bool:
    """Whether the job is waiting or running."""
    return job is not None and job.state in OPEN


def _under_way(job: Job, standing: Standing, audit_batch: AuditBatch | None) -> str:
    """What the job does, for who is labelling."""
    if job.kind != NEXT_ROUND:
        return "The figures are being updated"
    waited_for = audit_batch is None and (standing.progress.complete or standing.reason is not None)
    return "The next batch is being made" if waited_for else "In the background the model is measured"


def _outline(standing: Standing, audit_batch: AuditBatch | None) -> tuple[object, ...]:
    """What of the standing changes the page; with the minutes until a pair is free, which others may put off."""
    open_audit_batch = standing.audit_batch.round_id if standing.audit_batch and standing.audit_batch.left else None
    why = why_empty(standing, audit_batch)
    return standing.reason, why, standing.progress.round_id, is_open(standing.job), open_audit_batch


def ask_for_batch(database: Engine, project_id: int) -> None:
    """Nothing; the job that makes the next batch is waiting."""
    try:
        request_round(database, project_id)
    except InputError as error:
        st.toast(str(error))


def without_keyboard(
    database: Engine,
    project_id: int,
    who: str,
    question: str,
    pair: Pair | None,
    standing: Standing,
    audit_batch: AuditBatch | None,
) -> None:
    """Nothing; the same pair with the buttons of Streamlit itself."""
    with st.expander("No keyboard? / without JavaScript", key="without_keyboard"):
        if pair is None:
            st.text(why_empty(standing, audit_batch))
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
