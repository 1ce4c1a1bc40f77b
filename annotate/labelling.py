"""What the labelling page does, without the page: serve pairs, record answers, say why there is nothing to do."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.jobs import request_round
from db.answers import answered_since, known_keys, store_answers
from db.domain import LABELS, AnswerKind, InputError, Settings
from db.engine import reading, writing
from db.jobs import list_jobs
from db.models import Job, Project, Task, now
from db.tasks import (
    BatchProgress,
    batch_progress,
    end_leases,
    free_tasks,
    lease_tasks,
    newest_round,
    next_lease_end,
    task_pairs,
    texts_of,
)

log = logging.getLogger(__name__)

BUFFER = 40  # pairs that a browser holds, so that neither speed nor a lost connection interrupts


class Event(BaseModel):
    """One act of an annotator, as the browser sends it."""

    key: Annotated[str, Field(pattern=r"^[!-~]{1,80}$")]
    task_id: Annotated[int, Field(ge=1, lt=2**53)]
    answer: AnswerKind
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


@dataclass(frozen=True)
class Receipt:
    """What became of the events: the keys of those that are stored, and why the others are refused, by key."""

    stored: list[str]
    refused: dict[str, str]


@dataclass(frozen=True)
class Pair:
    """A pair to label, and why it was chosen."""

    task_id: int
    in_batch: bool
    left: str
    right: str
    score: float
    p: float | None
    strategy: str


class Reason(StrEnum):
    """Why there is nothing to label."""

    NO_BATCH = "no batch"  # the first batch is not made yet
    EMPTY = "empty"  # the batch has no pairs: nothing is left to label
    COMPLETE = "complete"  # the batch is answered, and so is its reserve
    LEASED = "leased"  # others hold all that is left


@dataclass(frozen=True)
class Standing:
    """How the project stands for one annotator: how far the batch is, the work under way, and what is left for them."""

    progress: BatchProgress
    reason: Reason | None  # nothing while there are pairs to label
    free_at: datetime | None  # when the first pair that others hold is free again
    job: Job | None  # the newest job of the project
    note: str  # what a person should know about the batch


def serve(engine: Engine, project_id: int, annotator: str, n: int = BUFFER) -> tuple[list[Pair], Standing]:
    """The next n pairs, leased to this annotator for ten minutes, and how the project stands for them."""
    at = now()
    with writing(engine) as session:
        tasks = lease_tasks(session, project_id, annotator, n, at)
        return _pairs(session, project_id, tasks), _standing(session, project_id, annotator, at, bool(tasks))


def leave(engine: Engine, annotator: str) -> None:
    """Nothing; what this annotator was served is free for others, or for the same person under another name."""
    with writing(engine) as session:
        end_leases(session, annotator)


def look(engine: Engine, project_id: int, annotator: str) -> Standing:
    """How the project stands for this annotator; leases nothing, so it can be asked again and again."""
    at = now()
    with reading(engine) as session:
        return _standing(session, project_id, annotator, at, bool(free_tasks(session, project_id, annotator, 1, at)))


def _pairs(session: Session, project_id: int, tasks: Sequence[Task]) -> list[Pair]:
    batch = newest_round(session, project_id)
    texts = texts_of(session, [item for task in tasks for item in (task.left_id, task.right_id)])
    return [
        Pair(task.id, batch is not None and task.position < batch.size, texts[task.left_id], texts[task.right_id],
             task.score, task.p, task.strategy)
        for task in tasks
    ]  # fmt: skip


def _standing(session: Session, project_id: int, annotator: str, at: datetime, any_free: bool) -> Standing:
    progress = batch_progress(session, project_id)
    return Standing(
        progress=progress,
        reason=None if any_free else _reason(progress),
        free_at=None if any_free else next_lease_end(session, project_id, annotator, at),
        job=next(iter(list_jobs(session, project_id)), None),
        note=newest.note if (newest := newest_round(session, project_id)) else "",
    )


def _reason(progress: BatchProgress) -> Reason:
    if progress.number == 0:
        return Reason.NO_BATCH
    if progress.size == 0:
        return Reason.EMPTY
    return Reason.COMPLETE if progress.complete and not progress.reserve_left else Reason.LEASED


def record(engine: Engine, project_id: int, annotator: str, events: Iterable[Any]) -> Receipt:
    """What became of each event, in one transaction; an event whose key is stored already is stored by that.

    An event that is malformed or names no task of this project is refused and logged, never raised: the browser must
    drop it, or it would send it for ever. An answer to a task whose lease has expired is stored: no label is lost. Asks
    for the next batch where it is due.
    """
    valid, refused = _checked(events)
    if not valid:
        return Receipt([], refused)
    with writing(engine) as session:
        known = known_keys(session, valid)
        pairs = task_pairs(session, project_id, {event.task_id for event in valid.values()})
        fresh = [event for key, event in valid.items() if key not in known and event.task_id in pairs]
        store_answers(session, [_row(event, project_id, pairs[event.task_id], annotator) for event in fresh])
    for key in valid.keys() - known:
        if valid[key].task_id not in pairs:
            refused[key] = f"task {valid[key].task_id} is not one of this project: reload the page"
    for key, why in refused.items():
        log.warning("answer %s of %s in project %s refused: %s", key, annotator, project_id, why)
    if any(event.answer in LABELS for event in fresh):
        ask_if_due(engine, project_id, news=True)
    return Receipt([key for key in valid if key not in refused], refused)


def _checked(events: Iterable[Any]) -> tuple[dict[str, Event], dict[str, str]]:
    """The well-formed events by key, and why the others are refused."""
    valid: dict[str, Event] = {}
    refused: dict[str, str] = {}
    for event in events:
        try:
            checked = Event.model_validate(event)
            valid.setdefault(checked.key, checked)
        except ValidationError as error:
            first = error.errors()[0]
            key = str(event.get("key", "")) if isinstance(event, dict) else ""
            refused[key] = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return valid, refused


def _row(event: Event, project_id: int, pair: tuple[int, int], annotator: str) -> dict[str, Any]:
    return {
        "project_id": project_id,
        "task_id": event.task_id,
        "left_id": pair[0],
        "right_id": pair[1],
        "annotator": annotator,
        "answer": event.answer,
        "key": event.key,
        "seconds": event.seconds,
        "created_at": now(),  # our clock: a browser's may be wrong, and jobs are compared with it
    }


def ask_if_due(engine: Engine, project_id: int, news: bool = False) -> None:
    """Nothing; the next batch is asked for if the project trains by itself, its batch is complete, and it has answers
    that no job has seen (`news`: there are some for sure).

    A job that failed or was cancelled is a person's to start again.
    """
    with reading(engine) as session:
        if not _is_due(session, project_id, news):
            return
    try:
        request_round(engine, project_id)
    except InputError:
        return  # somebody else has asked meanwhile, and nothing has been answered since
    except Exception:
        # The answers are stored and must be acknowledged; the page offers to ask for the batch again.
        log.exception("the next batch of project %s could not be asked for", project_id)


def _is_due(session: Session, project_id: int, news: bool) -> bool:
    project = session.get(Project, project_id)
    if project is None or not Settings.model_validate(project.settings).auto_train:
        return False
    job = next(iter(list_jobs(session, project_id)), None)
    if job is not None and job.state != "done":
        return False
    if job is not None and not news and not answered_since(session, project_id, job.created_at):
        return False
    return batch_progress(session, project_id).complete
