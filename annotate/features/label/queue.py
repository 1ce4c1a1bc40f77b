"""The labelling page's logic, without the page: serve pairs, record answers, say why there is nothing to do."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.features.label.fast_answers import note_fast_answers
from allpairs.annotate.features.label.shown_pairs import (
    AnsweredPair,
    Pair,
    last_answered_pairs,
    slip_in_checks,
    task_pairs,
)
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.jobs.requests import request_audit, request_correction, request_entities, request_round
from allpairs.db.domain import LABELS, LONGEST_NOTE, AnswerKind, DesignKind, Purpose, Settings
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import answered_since, store_answers, stored_keys
from allpairs.db.labels.audits import design_of
from allpairs.db.labels.hidden_checks import own_checks, store_check_answers
from allpairs.db.labels.leases import end_leases
from allpairs.db.labels.tasks import (
    BatchProgress,
    batch_progress,
    free_tasks,
    labelled_among,
    lease_tasks,
    newest_audit_batch,
    next_lease_end,
    round_to_label,
    tasks_by_id,
    unanswered,
)
from allpairs.db.projects.jobs import NEXT_ROUND, last_job, newest_job, open_job
from allpairs.db.projects.rounds import last_answer_at
from allpairs.db.schema.engine import as_system, reading
from allpairs.db.schema.tables import Check, Job, Project, Task, now

log = logging.getLogger(__name__)

RECENT = 50  # answers that can be undone after a reload; older ones are on the page “My answers”
BUFFER = 200  # pairs that a browser holds, so that fast answers or a lost connection do not interrupt work
LEASED = 40  # of them, the first, that nobody else gets meanwhile


def _storable(note: Any) -> Any:
    """Return the note without what no database stores: an answer must not be lost by its note."""
    return note.replace("\0", "").encode("utf-8", "replace").decode() if isinstance(note, str) else note


class AnswerEvent(BaseModel):
    """One act of an annotator, as the browser sends it. task_id: as it was served."""

    key: Annotated[str, Field(pattern=r"^[!-~]{1,80}$")]
    task_id: Annotated[int, Field(gt=-(2**53), lt=2**53)]
    answer: AnswerKind
    seconds: Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)] | None = None
    note: Annotated[str, Field(max_length=LONGEST_NOTE), BeforeValidator(_storable)] = ""


@dataclass(frozen=True)
class ChoiceScore:
    """Why a pair was chosen. An audit pair was sampled, so it has no score."""

    score: float | None = None
    p: float | None = None


@dataclass(frozen=True)
class Receipt:
    """The result of recording: the keys of stored events, and why the others are refused, by key."""

    stored: list[str]
    refused: dict[str, str]
    choices: dict[int, ChoiceScore] = field(default_factory=dict)  # of the tasks that are labelled now


@dataclass(frozen=True)
class AuditBatch:
    """The newest audit batch, and how many of its pairs are unlabelled."""

    round_id: int
    kind: DesignKind
    left: int


class Reason(StrEnum):
    """Why there is nothing to label."""

    NO_BATCH = "no batch"  # the first batch does not exist yet
    EMPTY = "empty"  # the batch has no pairs: there is nothing left to label
    COMPLETE = "complete"  # the batch and its reserve are answered
    LEASED = "leased"  # others hold all remaining pairs


@dataclass(frozen=True)
class LabelStanding:
    """The state of a project for one annotator: progress of the batch, the newest job, and why no pair is left.

    In the audit queue, the audit batch takes the place of the batch.
    """

    progress: BatchProgress
    audit_batch: AuditBatch | None  # the project's newest one, in either queue
    reason: Reason | None  # None while there are pairs to label
    free_at: datetime | None  # when the first lease of others ends
    job: Job | None  # the newest job of the project
    note: str  # what annotators should know about the batch


def serve(
    engine: Engine,
    project_id: int,
    annotator: str,
    n: int = BUFFER,
    audit_batch: bool = False,
    grouped: bool = False,
    device: str = "",
) -> tuple[list[Pair], LabelStanding]:
    """Return the next n pairs of the batch (or the audit batch) and the project's state for the annotator.

    The first forty are leased to them for ten minutes, on this device. grouped: pairs with the same left text follow
    each other.
    """
    time = now()
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        tasks = lease_tasks(session, project_id, annotator, n, time, audit_batch, grouped, LEASED, device)
        labelled_ids = labelled_among(session, (task.id for task in tasks))
        pairs = task_pairs(session, project_id, tasks, audit_batch, labelled_ids)
        if not audit_batch:  # audit pairs are few, and are for measuring already
            pairs = slip_in_checks(session, project_id, annotator, pairs, time)
        return pairs, _standing(session, project_id, annotator, time, bool(tasks), audit_batch)


def leave(engine: Engine, annotator: str) -> None:
    """End this annotator's leases, so that others, or the same person under another name, get the pairs."""
    with acting(engine, Right.LABEL, annotator=annotator) as session:
        end_leases(session, annotator)


def look(engine: Engine, project_id: int, annotator: str, audit_batch: bool = False) -> LabelStanding:
    """Return the project's state for this annotator; leases nothing, so it can be polled."""
    time = now()
    with reading(engine) as session:
        any_free = bool(free_tasks(session, project_id, annotator, 1, time, audit_batch))
        return _standing(session, project_id, annotator, time, any_free, audit_batch)


def audit_batch_of(engine: Engine, project_id: int) -> AuditBatch | None:
    """Return the newest audit batch of the project."""
    with reading(engine) as session:
        return _audit_batch(session, project_id)


def _audit_batch(session: Session, project_id: int) -> AuditBatch | None:
    newest = newest_audit_batch(session, project_id)
    return AuditBatch(newest.id, DesignKind(newest.strategy), unanswered(session, newest)) if newest else None


def recent(engine: Engine, project_id: int, annotator: str, audit_batch: bool = False) -> list[AnsweredPair]:
    """Return the annotator's last answers in the batch (or the audit batch), the newest last: what they can undo."""
    with reading(engine) as session:
        return last_answered_pairs(session, project_id, annotator, RECENT, audit_batch)


def _standing(
    session: Session, project_id: int, annotator: str, time: datetime, any_free: bool, audit_batch: bool
) -> LabelStanding:
    progress = batch_progress(session, project_id, audit_batch)
    free_at = None if any_free else next_lease_end(session, project_id, annotator, time, audit_batch)
    return LabelStanding(
        progress=progress,
        audit_batch=_audit_batch(session, project_id),
        reason=None if any_free else _reason(progress, free_at),
        free_at=free_at,
        job=newest_job(session, project_id),
        note=newest.note if (newest := round_to_label(session, project_id, audit_batch)) else "",
    )


def _reason(progress: BatchProgress, free_at: datetime | None) -> Reason:
    if progress.round_id is None:
        return Reason.NO_BATCH
    if free_at is not None:
        return Reason.LEASED
    return Reason.COMPLETE if progress.size else Reason.EMPTY


def record(engine: Engine, project_id: int, annotator: str, events: Iterable[Any]) -> Receipt:
    """Store the events in one transaction, and return what became of each. A known key is not stored again.

    An event that is malformed or names no task of this project is refused and logged, never raised: otherwise the
    browser would send it forever. An answer whose lease has expired is stored, so that no label is lost. Answers to
    checks are stored apart. Requests the job that is due.
    """
    valid, refused = _checked(events)
    with acting(engine, Right.LABEL, project_id, annotator) as session:
        known = stored_keys(session, project_id, valid)
        times = _moments(valid)
        tasks = tasks_by_id(session, project_id, {event.task_id for event in valid.values()})
        fresh = [event for key, event in valid.items() if key not in known and event.task_id in tasks]
        store_answers(session, [_row(event, tasks[event.task_id], annotator, times[event.key]) for event in fresh])
        labelled = [tasks[event.task_id] for event in fresh if event.answer in LABELS]
        choices = {task.id: _why(task) for task in labelled}
        if labelled:  # another annotator may be waiting for the pair
            end_leases(session, annotator, [task.id for task in labelled])
            note_fast_answers(session, project_id, annotator, len(fresh))
        checks = own_checks(session, project_id, annotator, {-event.task_id for event in valid.values()})
        on_checks = [event for event in valid.values() if -event.task_id in checks]
        store_check_answers(session, [_check_row(event, project_id, times[event.key]) for event in on_checks])
        answered = {-event.task_id for event in on_checks if event.answer in LABELS}
        choices |= _why_checks(session, project_id, [checks[check_id] for check_id in answered])
    for key in valid.keys() - known:
        if valid[key].task_id not in tasks and -valid[key].task_id not in checks:
            refused[key] = f"task {valid[key].task_id} does not belong to this project: get new tasks (reload the page)"
    for key, reason in refused.items():
        log.warning("answer %.80r of %r in project %s refused: %s", key, annotator, project_id, reason)
    if labelled:
        ask_if_due(engine, project_id)
    return Receipt([key for key in valid if key not in refused], refused, choices)


def _why(task: Task) -> ChoiceScore:
    return ChoiceScore() if task.purpose == Purpose.AUDIT else ChoiceScore(task.score, task.p)


def _why_checks(session: Session, project_id: int, checks: Sequence[Check]) -> dict[int, ChoiceScore]:
    """Return why the pairs of these checks were first chosen, so that a check is explained like any other answer."""
    tasks = tasks_by_id(session, project_id, {check.task_id for check in checks if check.task_id is not None})
    return {-check.id: _why(tasks[check.task_id]) for check in checks if check.task_id in tasks}


def _checked(events: Iterable[Any]) -> tuple[dict[str, AnswerEvent], dict[str, str]]:
    """Return the well-formed events by key, and why the others are refused."""
    valid: dict[str, AnswerEvent] = {}
    refused: dict[str, str] = {}
    for event in events:
        try:
            checked = AnswerEvent.model_validate(event)
            valid.setdefault(checked.key, checked)
        except ValidationError as error:
            first = error.errors()[0]
            key = str(event.get("key", "")) if isinstance(event, dict) else ""
            refused[key] = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return valid, refused


def _moments(keys: Iterable[str]) -> dict[str, datetime]:
    """Return the time of each event: now by our clock, since a browser's may be wrong and jobs are compared with it.

    Events of one message keep their order.
    """
    time = now()
    return {key: time + timedelta(microseconds=place) for place, key in enumerate(keys)}


def _row(event: AnswerEvent, task: Task, annotator: str, time: datetime) -> dict[str, Any]:
    pair = {"project_id": task.project_id, "task_id": task.id, "left_id": task.left_id, "right_id": task.right_id}
    return pair | {"annotator": annotator} | _said(event, time)


def _check_row(event: AnswerEvent, project_id: int, time: datetime) -> dict[str, Any]:
    return {"project_id": project_id, "check_id": -event.task_id} | _said(event, time)


def _said(event: AnswerEvent, time: datetime) -> dict[str, Any]:
    note = event.note.strip() or None
    return {"answer": event.answer, "key": event.key, "seconds": event.seconds, "note": note, "created_at": time}


def ask_if_due(engine: Engine, project_id: int) -> None:
    """Request the job that is due, unless one is open.

    The next batch is due if the project trains automatically, its batch is complete, and somebody has answered since
    the last one was asked for. New figures are due if the audit batch is complete and nobody has requested them since
    its last answer. A job that failed or was cancelled must be restarted by a person.
    """
    with reading(engine) as session:
        ask = None if open_job(session, project_id) else _due(session, project_id)
    if ask is None:
        return
    try:
        ask(as_system(engine))  # the annotator of the last answer may lack the right to start jobs
    except InputError:
        return  # somebody else has requested it meanwhile, and nothing has been answered since
    except Exception:
        # The answers are stored and must be acknowledged; the pages offer to request the job again.
        log.exception("could not request the next job of project %s", project_id)


def _due(session: Session, project_id: int) -> Callable[[Engine], str] | None:
    """Return a function that requests the job that is due, or None."""
    if _training_is_due(session, project_id):
        return partial(request_round, project_id=project_id)
    return _measuring_due(session, project_id)


def _training_is_due(session: Session, project_id: int) -> bool:
    project = session.get(Project, project_id)
    if project is None or not Settings.model_validate(project.settings).auto_train:
        return False
    job = last_job(session, project_id, [NEXT_ROUND])
    if job is not None and job.state != "done":
        return False
    # A job dated in the future comes from a clock that was ahead: its time means nothing.
    if job is not None and job.created_at <= now() and not answered_since(session, project_id, job.created_at):
        return False
    return batch_progress(session, project_id).complete


def _measuring_due(session: Session, project_id: int) -> Callable[[Engine], str] | None:
    """Return a function that requests the figures of a complete audit batch, unless they are newer than its answers.

    The figures of mined pairs need no job: the page “Pipelines” computes them when it is drawn.
    """
    audit_batch = newest_audit_batch(session, project_id)
    if audit_batch is None or audit_batch.strategy == DesignKind.MINED or unanswered(session, audit_batch):
        return None
    answered = last_answer_at(session, audit_batch.id)
    job = last_job(session, project_id, [audit_batch.strategy])
    if answered is None or (job is not None and job.created_at > answered):
        return None
    design = design_of(session, audit_batch)
    if design is not None and design.kind == DesignKind.CORRECTION:
        arguments = {"number": design.details["round"], "recall": design.details["recall"]}
        return partial(request_correction, project_id=project_id, draw=0, **arguments)
    ask = request_entities if audit_batch.strategy == DesignKind.ENTITIES else request_audit
    return partial(ask, project_id=project_id, draw=0)
