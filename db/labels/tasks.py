"""Tasks: which pairs an annotator sees next, and the progress of the batch."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    Select,
    SQLColumnExpression,
    and_,
    case,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Purpose
from allpairs.db.labels.answers import lock_answers, purpose_counts
from allpairs.db.labels.leases import lease, leases_of_others, surplus
from allpairs.db.labels.votes import SAME_PAIR, doubtful, labelled, looks_of, wants_vote_of
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.projects.projects import project_settings
from allpairs.db.schema.tables import Answer, Lease, PairLabel, Round, Task

LEAST = 5  # tasks that a device holds while others of its annotator hold many: nobody reserves a whole batch
_SCATTER = 7_919  # a prime: spreads second votes over half of the batch in an uninformative order


@dataclass(frozen=True)
class BatchProgress:
    """The progress of the newest batch, or the newest audit batch; and the positives of the whole project."""

    round_id: int | None = None  # None before the first one
    number: int = 0  # of the batch; 0 before the first one, and for an audit batch
    size: int = 0
    answered: int = 0
    positives: int = 0
    audits: int = 0  # of the size, pairs for measuring
    extra: int = 0  # labelled pairs of its reserve, beyond the size
    all_positives: int = 0  # labels for training and of audits

    @property
    def complete(self) -> bool:
        """Whether every pair of the batch is answered."""
        return 0 < self.size <= self.answered


def newest_round(session: Session, project_id: int, lock: bool = False) -> Round | None:
    """Return the last batch of the project; `lock`: nobody else leases its tasks until this transaction ends."""
    batches = select(Round).where(Round.project_id == project_id, Round.number.is_not(None))
    return _first(session, batches.order_by(Round.number.desc()), lock)


def newest_audit_batch(session: Session, project_id: int, lock: bool = False) -> Round | None:
    """Return the last audit batch of the project; `lock` as in `newest_round`."""
    audit_batches = select(Round).where(Round.project_id == project_id, Round.number.is_(None))
    return _first(session, audit_batches.order_by(Round.id.desc()), lock)


def _first(session: Session, rounds: Select[Round], lock: bool) -> Round | None:
    # SQLite has no row locks; there, the write transaction keeps others out.
    return session.scalar(rounds.limit(1).with_for_update() if lock else rounds.limit(1))


def open_audit_batch(session: Session, project_id: int) -> Round | None:
    """Return the newest audit batch, if it has unlabelled pairs."""
    audit_batch = newest_audit_batch(session, project_id)
    return audit_batch if audit_batch is not None and unanswered(session, audit_batch) else None


def may_add_audit_batch(session: Session, project_id: int) -> bool:
    """Return whether no audit batch is open; if so, nobody else adds one until this transaction ends."""
    lock_answers(session, project_id)
    return open_audit_batch(session, project_id) is None


def round_to_label(session: Session, project_id: int, audit_batch: bool, lock: bool = False) -> Round | None:
    """Return the round to label: the newest audit batch, or the newest batch."""
    return (newest_audit_batch if audit_batch else newest_round)(session, project_id, lock)


def lease_tasks(
    session: Session,
    project_id: int,
    annotator: str,
    n: int,
    now: datetime,
    audit_batch: bool = False,
    grouped: bool = False,
    held_count: int | None = None,
    device: str = "",
) -> list[Task]:
    """Return the next n tasks, and lease them (or only the first `held_count`) to this annotator for ten minutes.

    device: which of the annotator's browsers. Each gets tasks of its own while there are enough, and keeps its leases.
    """
    round_to_label(session, project_id, audit_batch, lock=True)
    tasks = free_tasks(session, project_id, annotator, n, now, audit_batch, grouped, device, held_count)
    elsewhere = _held_elsewhere(session, annotator, device, now)
    tasks_here = [task.id for task in tasks if task.id not in elsewhere]
    if held_count is not None:
        held_count = max(held_count - len(tasks) + len(tasks_here), min(held_count, LEAST))
    lease(session, tasks_here[:held_count], annotator, now, device)
    return tasks


def _held_elsewhere(session: Session, annotator: str, device: str, now: datetime) -> set[int]:
    """Return the tasks that other devices of the annotator hold."""
    leased_tasks = select(Lease.task_id).where(Lease.annotator == annotator, Lease.expires_at > now)
    return set(session.scalars(leased_tasks.where(Lease.device.not_in(("", device)))))


def free_tasks(
    session: Session,
    project_id: int,
    annotator: str,
    n: int,
    now: datetime,
    audit_batch: bool = False,
    grouped: bool = False,
    device: str = "",
    held_count: int | None = None,
) -> list[Task]:
    """Return the next n tasks of this annotator, in order: pairs that need their vote and that nobody else has leased.

    They come from the newest batch, then its reserve, then pairs of earlier batches that need another vote; or from the
    newest audit batch. If there are fewer than n, or than `held_count`, the tasks that others have leased beyond a fair
    part are free as well. grouped: tasks that show the same text first follow each other.
    """
    batch = round_to_label(session, project_id, audit_batch)
    if batch is None:
        return []
    looks = looks_of(project_settings(session, project_id))
    enough = n if held_count is None else min(n, held_count)
    for part in _parts(batch, looks, audit_batch):
        open_tasks = _open_tasks(project_id, part, annotator, looks)
        select_free = partial(_free_in, session, batch, open_tasks, annotator, n, now, grouped, device)
        tasks = select_free()
        if len(tasks) < enough:
            lost = surplus(session, open_tasks, project_id, annotator, now, len(tasks), enough)
            tasks = select_free(lost) if lost else tasks
        if tasks:
            return tasks
    return []


def _parts(batch: Round, looks: int, audit_batch: bool) -> list[ColumnElement[bool]]:
    """Return conditions for the parts of the queue, in the order they are served."""
    in_round = Task.round_id == batch.id
    in_batch = Task.position < batch.size
    parts: list[ColumnElement[bool]] = [in_round & in_batch, in_round & ~in_batch]
    if not audit_batch:
        earlier = (Task.project_id == batch.project_id) & ~in_round & labelled()
        parts.append(earlier if looks > 1 else earlier & (Task.votes > text("1")))  # written as in its index
    return parts


def _free_in(
    session: Session,
    batch: Round,
    open_tasks: Select[Task],
    annotator: str,
    n: int,
    now: datetime,
    grouped: bool,
    device: str,
    lost: Collection[int] = (),
) -> list[Task]:
    """Return the first n free ones of these tasks; lost: tasks that are free although somebody else has leased them."""
    skipped = _skips(batch, annotator)
    leased_by_annotator = and_(Lease.annotator == annotator, Lease.expires_at > now)
    elsewhere = and_(leased_by_annotator, Lease.device.not_in(("", device)))
    in_share = _share_of(session, batch.project_id, annotator, device, now)
    # Skipped pairs go to the very end, even if still leased, in the order of skipping.
    order: list[SQLColumnExpression[Any]] = [
        func.coalesce(skipped.c.skip_id, 0),
        # Each device of the annotator has its share. The others' comes after it, and what they hold comes last, both
        # backwards: devices meet only at the end, even if one hears of the other's answers late.
        case((elsewhere, 3), (leased_by_annotator, 0), (in_share, 1), else_=2),
        case(
            (elsewhere, -Task.position),
            (labelled(), _scattered(max(batch.size // 2, 1))),
            (leased_by_annotator | in_share, Task.position),
            else_=-Task.position,
        ),
    ]
    if grouped:
        first = case((Task.turned, Task.right_id), else_=Task.left_id)  # the text that is shown first
        order = [*(func.min(place).over(partition_by=first) for place in order), first, *order]
    queue = open_tasks.outerjoin(skipped, skipped.c.task_id == Task.id)
    free = or_(~leases_of_others(annotator, now).exists(), Task.id.in_(lost))
    return list(session.scalars(queue.where(free).order_by(*order).limit(n)))


def _share_of(session: Session, project_id: int, annotator: str, device: str, now: datetime) -> ColumnElement[bool]:
    """Return the condition for this device's tasks: all, or one in so many as devices of the annotator hold tasks."""
    devices_query = select(Lease.device).where(Lease.annotator == annotator, Lease.expires_at > now, Lease.device != "")
    devices_query = devices_query.join(Task, Task.id == Lease.task_id).where(Task.project_id == project_id)
    devices = sorted({device, *session.scalars(devices_query.distinct())}) if device else [device]
    return Task.id % len(devices) == devices.index(device)


def _scattered(half: int) -> ColumnElement[int]:
    """Return the place of a second vote among the batch's positions: the first half if doubtful, else the second."""
    return Task.id % 65_536 * _SCATTER % half + case((doubtful(), 0), else_=half)


def _open_tasks(project_id: int, part: ColumnElement[bool], annotator: str, looks: int) -> Select[Task]:
    """Select the tasks of this part that are unlabelled or need this annotator's vote, with their lease."""
    query = select(Task).outerjoin(Lease, Lease.task_id == Task.id)
    return query.where(part, or_(~labelled(), wants_vote_of(annotator, looks)), texts_present(Task, project_id))


def _skips(batch: Round, annotator: str) -> CTE:
    """Select the annotator's last acts on the round's tasks that are skips: columns task_id, skip_id."""
    last_acts = select(func.max(Answer.id)).join(Task, Task.id == Answer.task_id).where(Task.round_id == batch.id)
    last = last_acts.where(Answer.annotator == annotator).group_by(Answer.task_id)
    skips = select(Answer.task_id, Answer.id.label("skip_id"))
    return skips.where(Answer.id.in_(last), Answer.answer == AnswerKind.SKIP).cte("skips").prefix_with("MATERIALIZED")


def next_lease_end(
    session: Session, project_id: int, annotator: str, now: datetime, audit_batch: bool = False
) -> datetime | None:
    """Return when the first task that `free_tasks` would serve becomes free; None if nobody else has one."""
    batch = round_to_label(session, project_id, audit_batch)
    if batch is None:
        return None
    looks = looks_of(project_settings(session, project_id))
    ends = leases_of_others(annotator, now)
    first = ends.with_only_columns(func.min(ends.selected_columns.expires_at)).scalar_subquery()
    parts = (_open_tasks(project_id, part, annotator, looks) for part in _parts(batch, looks, audit_batch))
    first_ends = [session.scalar(tasks.with_only_columns(func.min(first))) for tasks in parts]
    return min((end for end in first_ends if end is not None), default=None)


def add_tasks(session: Session, rows: Iterable[dict[str, Any]]) -> None:
    """Add the rows as tasks. Columns that are empty for training tasks may be missing.

    The audit tasks of a batch are inserted with its others, with ids ascending by position, so that ids do not reveal
    them.
    """
    empty: dict[str, Any] = {"p": None, "inclusion": None, "stratum": None, "design_id": None}
    empty |= {"alike": None, "purpose": Purpose.TRAIN, "votes": 1, "turned": False}
    tasks = [empty | row for row in sorted(rows, key=lambda row: row["position"])]
    if tasks:
        session.execute(insert(Task), tasks)


def put_first(session: Session, batch: Round, row: dict[str, Any], annotator: str, now: datetime) -> None:
    """Insert the row as the first task of the batch, which grows by one, and lease it to this annotator."""
    later = update(Task).where(Task.round_id == batch.id).values(position=Task.position + 1)
    session.execute(later.execution_options(synchronize_session=False))
    batch.size += 1
    task = Task(project_id=batch.project_id, round_id=batch.id, position=0, **row)
    session.add(task)
    session.flush()
    lease(session, [task.id], annotator, now)


def tasks_by_id(session: Session, project_id: int, task_ids: Iterable[int]) -> dict[int, Task]:
    """Return each of these tasks by id; leave out tasks of other projects."""
    query = select(Task).where(Task.project_id == project_id, Task.id.in_(list(task_ids)))
    return {task.id: task for task in session.scalars(query)}


def unmarked_tasks(session: Session, round_id: int) -> list[Task]:
    """Return the round's tasks without a likely sentence."""
    return list(session.scalars(select(Task).where(Task.round_id == round_id, Task.likely_start.is_(None))))


def mark_likely(session: Session, spans: Mapping[int, tuple[int, int]]) -> None:
    """Store the likely sentence of each of these tasks, by id: a span of characters of its right text."""
    rows = [{"id": task, "likely_start": start, "likely_end": end} for task, (start, end) in spans.items()]
    if rows:
        session.execute(update(Task), rows)


def labelled_among(session: Session, task_ids: Iterable[int]) -> set[int]:
    """Return which of the tasks have a pair that is already labelled."""
    return set(session.scalars(select(Task.id).where(Task.id.in_(list(task_ids)), labelled())))


def batch_progress(session: Session, project_id: int, audit_batch: bool = False) -> BatchProgress:
    """Return the progress of the newest batch (or audit batch), and the positives of the whole project."""
    all_positives = _positives(session, project_id)
    batch = round_to_label(session, project_id, audit_batch)
    if batch is None:
        return BatchProgress(all_positives=all_positives)
    counts = _counts(session, batch)
    own_counts = [count for count in counts if count.in_batch]
    return BatchProgress(
        round_id=batch.id,
        number=batch.number or 0,
        size=sum(count.count for count in own_counts),
        answered=sum(count.count for count in own_counts if count.label is not None),
        positives=sum(count.count for count in own_counts if count.label == AnswerKind.POSITIVE),
        audits=sum(count.count for count in own_counts if count.purpose == Purpose.AUDIT),
        extra=sum(count.count for count in counts if not count.in_batch and count.label is not None),
        all_positives=all_positives,
    )


def _positives(session: Session, project_id: int) -> int:
    counts = purpose_counts(session, project_id)
    return sum(count for (_, answer), count in counts.items() if answer == AnswerKind.POSITIVE)


def unanswered(session: Session, batch: Round) -> int:
    """Return the number of the round's tasks, reserve included, whose pair is unlabelled."""
    return sum(count.count for count in _counts(session, batch) if count.label is None)


@dataclass(frozen=True)
class _Count:
    """The number of a round's tasks in the batch itself or its reserve, of this purpose, with this label."""

    in_batch: bool
    purpose: Purpose
    label: AnswerKind | None  # None: unlabelled
    count: int


def _counts(session: Session, batch: Round) -> list[_Count]:
    in_batch = case((Task.position < batch.size, 1), else_=0).label("in_batch")
    rows = session.execute(
        select(in_batch, Task.purpose, PairLabel.answer, func.count())
        .select_from(Task)
        .outerjoin(PairLabel, SAME_PAIR)
        .where(Task.round_id == batch.id)
        .group_by("in_batch", Task.purpose, PairLabel.answer)
    )
    return [
        _Count(bool(position), Purpose(purpose), None if answer is None else AnswerKind(answer), count)
        for position, purpose, answer, count in rows
    ]
