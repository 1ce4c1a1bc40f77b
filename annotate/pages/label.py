"""Labelling: the card, the guidelines, and the progress of what runs meanwhile."""

from uuid import uuid4

import streamlit as st
from sqlalchemy import Engine

from allpairs.annotate.features.label.end_audit import drop_audit_batch
from allpairs.annotate.features.label.pair_reason import last_answered, reasons
from allpairs.annotate.features.label.queue import (
    AuditBatch,
    LabelStanding,
    Reason,
    Receipt,
    ask_if_due,
    audit_batch_of,
    look,
    recent,
    record,
    serve,
)
from allpairs.annotate.features.label.shown_pairs import Pair
from allpairs.annotate.features.label.ui.card import AUDIT_BATCHES, PAGE_STYLE, label_card, outbox, why_empty
from allpairs.annotate.features.label.ui.guidelines import panel
from allpairs.annotate.features.label.ui.why import why
from allpairs.annotate.features.projects.training_outlook import outlook_in_words, outlook_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.ui.errors import explained, told
from allpairs.annotate.kit.ui.job_status import failure, progress_in_words, share_done
from allpairs.annotate.kit.ui.language import _, ngettext, words
from allpairs.annotate.kit.ui.state import annotator, current_project, device, engine, may
from allpairs.db.domain import AnswerKind, DesignKind, Kind, Settings
from allpairs.db.projects.jobs import NEXT_ROUND, OPEN
from allpairs.db.projects.projects import ProjectGone
from allpairs.db.schema.tables import Job

BUTTONS = (
    (AnswerKind.POSITIVE, later("Yes")),
    (AnswerKind.NEGATIVE, later("No")),
    (AnswerKind.UNSURE, later("Unsure")),
    (AnswerKind.SKIP, later("Skip")),
)
# Queues to choose from.
BATCH = "batch"
AUDIT_BATCH = "audit"


def main() -> None:
    """Draw the page."""
    database = engine()
    project = current_project(database)
    if project is None:
        st.title(_("Label"))
        st.info(_("There is no project yet. Create one on the page “New project”."))
        return
    settings = Settings.model_validate(project.settings)
    st.html(PAGE_STYLE)
    label_desk(database, project.id, project.name, annotator(), settings, project.kind == Kind.BIPARTITE)


@st.fragment
def label_desk(
    database: Engine, project_id: int, name: str, annotator: str, settings: Settings, bipartite: bool
) -> None:
    """Store the answers that the browser sent, and draw the next pairs."""
    with explained():  # the browser keeps an unacknowledged answer and sends it again
        try:
            _desk(database, project_id, name, annotator, settings, bipartite)
        except ProjectGone:  # the frame says where it is, in place of the card
            st.rerun()


def _desk(database: Engine, project_id: int, name: str, annotator: str, settings: Settings, bipartite: bool) -> None:
    key = f"card-{project_id}-{annotator}"
    question = settings.question
    sent = outbox(key)
    receipt = record(database, project_id, annotator, sent.events) if sent.events else Receipt([], {})
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.header(literal(name), anchor=False, width="content")
        audit_batch = choose_queue(database, project_id)
        of_entities = audit_batch is not None and audit_batch.kind == DesignKind.ENTITIES
        grouped = of_entities or (bipartite and choose_view(project_id))
    pairs, standing = serve(
        database, project_id, annotator, audit_batch=audit_batch is not None, grouped=grouped, device=device()
    )
    before = [] if sent.attempt else recent(database, project_id, annotator, audit_batch=audit_batch is not None)
    extras = panel(database, project_id, annotator, settings.guidelines, standing.progress.round_id, sent.guidelines)
    label_card(
        key, project_id, annotator, question, sent, receipt, pairs, standing, audit_batch, before, grouped, extras
    )
    outlook = None if audit_batch is not None else outlook_of(database, project_id, standing.progress)
    for words_below in (standing.note, outlook_in_words(outlook, words()) if outlook else ""):
        if words_below:
            st.info(literal(words_below))
    if audit_batch is not None and standing.reason is Reason.COMPLETE and may(Right.SEE, project_id):
        page = "pipelines" if audit_batch.kind == DesignKind.MINED else "monitor"
        titles = {"pipelines": _("Pipelines"), "monitor": _("Monitor")}
        label = _("See the figures on the page “{page}”", page=titles[page])
        st.page_link(f"../pages/{page}.py", label=label, icon=":material/monitoring:")
    if not pairs or standing.progress.complete or is_unfinished(standing.job):
        meanwhile(database, project_id, annotator, _outline(standing, audit_batch), audit_batch)
    why_last(database, project_id, annotator)
    without_keyboard(database, project_id, annotator, question, pairs[0] if pairs else None, standing, audit_batch)


@st.fragment
def why_last(database: Engine, project_id: int, annotator: str) -> None:
    """Draw, once somebody asks, why the last answered pair had been chosen."""
    with st.expander(_("Why was the last pair chosen?"), key="why_last", on_change="rerun") as opened:
        if not opened.open:
            return
        task = last_answered(database, project_id, annotator)
        if task is None:
            none = _("You have not answered a pair yet. Reasons appear after the answer, so that they do not bias it.")
            st.write(none)
        else:
            pair_reasons = reasons(database, project_id, task)
            for column, text in zip(st.columns(2), (pair_reasons.left, pair_reasons.right), strict=True):
                column.text(text)
            why(pair_reasons)


def choose_queue(database: Engine, project_id: int) -> AuditBatch | None:
    """Draw the choice between batch and audit batch, while there is one; return the audit batch if it is chosen."""
    audit_batch = audit_batch_of(database, project_id)
    key = f"queue_{project_id}"
    place = st.empty()  # takes the choice away at once, even if this run is broken off
    if audit_batch is None or not (audit_batch.left or st.session_state.get(key) == AUDIT_BATCH):
        return None
    left = _("{queue} ({n} left)", queue=_(AUDIT_BATCHES[audit_batch.kind]), n=audit_batch.left)
    titles = {BATCH: _("Batch"), AUDIT_BATCH: left}
    with place.container(horizontal=True, vertical_alignment="center"):
        chosen = st.segmented_control(
            _("What to label"),
            list(titles),
            default=BATCH,
            required=True,
            format_func=titles.__getitem__,
            key=key,
            label_visibility="collapsed",
            persist_state="session",
        )
        if chosen == AUDIT_BATCH and audit_batch.left and may(Right.CHANGE, project_id):
            offer_to_drop(database, project_id, audit_batch.left)
    return audit_batch if chosen == AUDIT_BATCH else None


def choose_view(project_id: int) -> bool:
    """Draw the choice of a view; return whether to show all candidates of one left text together."""
    views = {False: _("One pair at a time"), True: _("Group by left text")}
    return bool(
        st.segmented_control(
            _("How pairs are shown"),
            list(views),
            default=False,
            required=True,
            format_func=views.__getitem__,
            key=f"view_{project_id}",
            label_visibility="collapsed",
            persist_state="session",
        )
    )


def offer_to_drop(database: Engine, project_id: int, left: int) -> None:
    """Draw the button that ends the audit batch early, behind a confirmation."""
    with st.popover(_("End early"), type="tertiary", key=f"end_audit_batch_{project_id}"):
        st.write(_("Answers so far count. Unanswered pairs are dropped for all annotators."))
        drop = ngettext("Drop {n} pair", "Drop {n} pairs", left)
        st.button(
            drop,
            key="drop_audit_batch",
            icon=":material/delete:",
            on_click=drop_audit_batch,
            args=(database, project_id),
        )


@st.fragment(run_every=2)
def meanwhile(
    database: Engine,
    project_id: int,
    annotator: str,
    shown_state: tuple[object, ...],
    audit_batch: AuditBatch | None,
) -> None:
    """Draw the running job, and redraw the page when its outline differs from the one shown."""
    ask_if_due(database, project_id)
    standing = look(database, project_id, annotator, audit_batch=audit_batch is not None)
    if _outline(standing, audit_batch) != shown_state:
        st.rerun()
    job = standing.job
    if job is not None and is_unfinished(job):
        text = _under_way(job, standing, audit_batch)
        st.progress(share_done(job), f"{text}: {progress_in_words(job, words())}")
        return
    if job is not None and job.state == "failed":
        failure(job)
    due = audit_batch is None and (standing.progress.complete or standing.reason in (Reason.NO_BATCH, Reason.EMPTY))
    if due and may(Right.CHANGE, project_id):
        st.button(
            _("Prepare the next batch"), key="make_next_batch", on_click=ask_for_batch, args=(database, project_id)
        )


def is_unfinished(job: Job | None) -> bool:
    """Return whether the job is waiting or running."""
    return job is not None and job.state in OPEN


def _under_way(job: Job, standing: LabelStanding, audit_batch: AuditBatch | None) -> str:
    """Return what the job does, for an annotator."""
    if job.kind != NEXT_ROUND:
        return _("Updating the figures")
    if audit_batch is None and standing.reason is Reason.NO_BATCH:
        return _("Preparing the first batch")
    waited_for = audit_batch is None and (standing.progress.complete or standing.reason is not None)
    return _("Preparing the next batch") if waited_for else _("Evaluating the model in the background")


def _outline(standing: LabelStanding, audit_batch: AuditBatch | None) -> tuple[object, ...]:
    """Return the parts of the standing that change the page."""
    open_audit_batch = standing.audit_batch.round_id if standing.audit_batch and standing.audit_batch.left else None
    reason = why_empty(standing, audit_batch)
    job = standing.job
    timed = job is not None and job.seconds_left is not None
    return standing.reason, reason, standing.progress.round_id, is_unfinished(job), timed, open_audit_batch


def ask_for_batch(database: Engine, project_id: int) -> None:
    """Request the job that makes the next batch."""
    with told(st.toast):
        request_round(database, project_id)


def without_keyboard(
    database: Engine,
    project_id: int,
    annotator: str,
    question: str,
    pair: Pair | None,
    standing: LabelStanding,
    audit_batch: AuditBatch | None,
) -> None:
    """Draw the same pair with plain Streamlit buttons."""
    with st.expander(_("Basic buttons"), key="without_keyboard"):
        if pair is None:
            st.text(why_empty(standing, audit_batch))
            return
        st.text(question)
        for column, text in zip(st.columns(2), (pair.left, pair.right), strict=True):
            column.text(text)
        for column, (answer, label) in zip(st.columns(len(BUTTONS)), BUTTONS, strict=True):
            column.button(
                _(label),
                key=f"answer_{pair.task_id}_{answer}",  # per pair, so that a double click never labels the next one
                on_click=answer_pair,
                args=(database, project_id, annotator, pair.task_id, answer),
                width="stretch",
            )


def answer_pair(database: Engine, project_id: int, annotator: str, task_id: int, answer: AnswerKind) -> None:
    """Store the answer."""
    with told(st.toast):
        record(database, project_id, annotator, [{"key": f"button-{uuid4()}", "task_id": task_id, "answer": answer}])


main()
