"""Tasks: which pairs an annotator sees next, who holds them, and how far the batch is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Select, Subquery, and_, delete, func, insert, or_, select
from sqlalchemy.orm import Session

from db.answers import counting_ids, label_counts
from db.domain import AnswerKind
from db.models import Answer, Item, Lease, Round, Task

LEASE = timedelta(minutes=10)


@dataclass(frozen=True)
class BatchProgress:
    """How far the newest batch is. Its number is 0 before the first batch."""

    number: int = 0
    size: int = 0
    answered: int = 0
    positives: int = 0
    negatives: int = 0
    unsure: int = 0
    total_positives: int = 0
    total_negatives: int = 0
    total_unsure: int = 0
    reserve_left: int = 0

    @property
    def complete(self) -> bool:
        """Whether every pair of the batch is answered."""
        return 0 < self.size <= self.answered


def newest_round(session: Session, project_id: int, lock: bool = False) -> Round | None:
    """The last round of the project; with `lock`, no one else leases its tasks until this transaction ends."""
    wanted = select(Round).where(Round.project_id == project_id).order_by(Round.number.desc()).limit(1)
    # SQLite has no row locks: there, the write transaction itself keeps the others out.
    return session.scalar(wanted.with_for_update() if lock else wanted)


def lease_tasks(session: Session, project_id: int, annotator: str, n: int, now: datetime) -> list[Task]:
    """The next n tasks of this annotator, each leased to them for ten minutes from `now`."""
    newest_round(session, project_id, lock=True)
    tasks = free_tasks(session, project_id, annotator, n, now)
    _lease(session, [task.id for task in tasks], annotator, now + LEASE)
    return tasks


def free_tasks(session: Session, project_id: int, annotator: str, n: int, now: datetime) -> list[Task]:
    """The next n tasks of this annotator, in order; those that nobody has labelled and nobody else holds.

    Only the newest round is served: its batch, and its reserve once nothing of the batch is free for this annotator.
    """
    batch = newest_round(session, project_id)
    if batch is None:
        return []
    in_batch = Task.position < batch.size
    tasks = _free_in(session, batch, in_batch, annotator, n, now)
    return tasks or _free_in(session, batch, ~in_batch, annotator, n, now)


def _free_in(
    session: Session, batch: Round, part: ColumnElement[bool], annotator: str, n: int, now: datetime
) -> list[Task]:
    skipped = _skips(batch, annotator)
    mine = and_(Lease.annotator == annotator, Lease.expires_at > now)
    free = or_(Lease.task_id.is_(None), Lease.annotator == annotator, Lease.expires_at <= now)
    # Skipped pairs go to the very back, even those still leased, in the order of skipping.
    order = (func.coalesce(skipped.c.skip_id, 0), mine.is_not(True), Task.position)
    wanted = _open_tasks(batch, part).outerjoin(skipped, skipped.c.task_id == Task.id)
    return list(session.scalars(wanted.where(free).order_by(*order).limit(n)))


def _open_tasks(batch: Round, part: ColumnElement[bool]) -> Select[Task]:
    """The tasks of a part of the round whose pair nobody has labelled, with their lease."""
    labels = _labels(batch)
    unlabelled = select(Task).outerjoin(labels, _same_pair(labels)).where(labels.c.answer.is_(None))
    return unlabelled.outerjoin(Lease, Lease.task_id == Task.id).where(Task.round_id == batch.id, part)


def _labels(batch: Round) -> Subquery:
    """The labels of the round's pairs, whoever gave them and in whichever round: columns left_id, right_id, answer."""
    counting = counting_ids(batch.project_id, round_id=batch.id)
    return select(Answer.left_id, Answer.right_id, Answer.answer).where(Answer.id.in_(counting)).subquery()


def _same_pair(labels: Subquery) -> ColumnElement[bool]:
    return and_(labels.c.left_id == Task.left_id, labels.c.right_id == Task.right_id)


def _skips(batch: Round, annotator: str) -> Subquery:
    """The annotator's last acts on the round's tasks that are skips: columns task_id, skip_id."""
    own = select(func.max(Answer.id)).join(Task, Task.id == Answer.task_id).where(Task.round_id == batch.id)
    last = own.where(Answer.annotator == annotator).group_by(Answer.task_id)
    skips = select(Answer.task_id, Answer.id.label("skip_id"))
    return skips.where(Answer.id.in_(last), Answer.answer == AnswerKind.SKIP).subquery()


def _lease(session: Session, task_ids: Sequence[int], annotator: str, until: datetime) -> None:
    if not task_ids:
        return
    session.execute(delete(Lease).where(Lease.task_id.in_(task_ids)))
    session.execute(insert(Lease), [{"task_id": id_, "annotator": annotator, "expires_at": until} for id_ in task_ids])


def end_leases(session: Session, annotator: str) -> None:
    """Nothing; the annotator holds no task any more."""
    session.execute(delete(Lease).where(Lease.annotator == annotator))


def next_lease_end(session: Session, project_id: int, annotator: str, now: datetime) -> datetime | None:
    """When the first task that somebody else holds is free again; nothing if nobody holds one."""
    batch = newest_round(session, project_id)
    if batch is None:
        return None
    held = _open_tasks(batch, Task.position >= 0).where(Lease.annotator != annotator, Lease.expires_at > now)
    return session.scalar(held.with_only_columns(func.min(Lease.expires_at)))


def task_pairs(session: Session, project_id: int, task_ids: Iterable[int]) -> dict[int, tuple[int, int]]:
    """The two items of each of these tasks; tasks of other projects are left out."""
    wanted = select(Task.id, Task.left_id, Task.right_id).where(Task.project_id == project_id)
    return {id_: (left, right) for id_, left, right in session.execute(wanted.where(Task.id.in_(list(task_ids))))}


def texts_of(session: Session, item_ids: Iterable[int]) -> dict[int, str]:
    """The text of each of these items."""
    rows = session.execute(select(Item.id, Item.text).where(Item.id.in_(set(item_ids))))
    return dict(rows.all())


def batch_progress(session: Session, project_id: int) -> BatchProgress:
    """How far the newest batch is, and the labels of the whole project."""
    totals = label_counts(session, project_id)
    total = {f"total_{name}": totals.get(answer, 0) for name, answer in _COUNTED.items()}
    batch = newest_round(session, project_id)
    if batch is None:
        return BatchProgress(**total)
    tasks = _count_by_label(session, batch, Task.position < batch.size)
    reserve = _count_by_label(session, batch, Task.position >= batch.size)
    return BatchProgress(
        number=batch.number,
        size=sum(tasks.values()),
        answered=sum(tasks.values()) - tasks.get(None, 0),
        reserve_left=reserve.get(None, 0),
        **{name: tasks.get(answer, 0) for name, answer in _COUNTED.items()},
        **total,
    )


_COUNTED = {"positives": AnswerKind.POSITIVE, "negatives": AnswerKind.NEGATIVE, "unsure": AnswerKind.UNSURE}


def _count_by_label(session: Session, batch: Round, part: ColumnElement[bool]) -> dict[AnswerKind | None, int]:
    """How many tasks of a part of the round carry each label; those without one under None."""
    labels = _labels(batch)
    rows = session.execute(
        select(labels.c.answer, func.count())
        .select_from(Task)
        .outerjoin(labels, _same_pair(labels))
        .where(Task.round_id == batch.id, part)
        .group_by(labels.c.answer)
    )
    return {None if answer is None else AnswerKind(answer): count for answer, count in rows}
