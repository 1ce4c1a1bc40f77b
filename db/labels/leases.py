"""Leases: which pairs an annotator has reserved for ten minutes, and how a small batch is shared."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Select, and_, delete, insert, or_, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.schema.tables import Lease, Round, Task

LEASE = timedelta(minutes=10)
_PAIR = ("project_id", "left_id", "right_id")
_UNSEEN = {"synchronize_session": False}  # no lease is an object of this session


def lease(session: Session, task_ids: Sequence[int], annotator: str, now: datetime, device: str = "") -> None:
    """Lease the tasks, in the order in which they will be shown; whoever else had their pairs loses them.

    Each lease ends a microsecond before that of the task shown before it, which tells `surplus` the order.
    """
    if not task_ids:
        return
    same_pair = aliased(Task)
    leased = aliased(Task)
    same = and_(*(getattr(leased, column) == getattr(same_pair, column) for column in _PAIR))
    pairs = select(leased.id).join(same_pair, same).where(same_pair.id.in_(task_ids))
    lost = and_(Lease.task_id.in_(pairs), Lease.annotator != annotator)
    session.execute(delete(Lease).where(or_(Lease.task_id.in_(task_ids), lost)).execution_options(**_UNSEEN))
    row = {"annotator": annotator, "device": device}
    ends = [now + LEASE - timedelta(microseconds=place) for place in range(len(task_ids))]
    rows = [row | {"task_id": id_, "expires_at": end} for id_, end in zip(task_ids, ends, strict=True)]
    session.execute(insert(Lease), rows)


def end_leases(session: Session, annotator: str, task_ids: Collection[int] | None = None) -> None:
    """End the annotator's leases of these tasks, or all their leases."""
    leases = delete(Lease).where(Lease.annotator == annotator)
    session.execute(leases if task_ids is None else leases.where(Lease.task_id.in_(task_ids)))


def end_leases_before(session: Session, batch: Round) -> None:
    """End all leases of earlier batches: what is left of them, the reserve, is not shown once there is a newer one."""
    earlier = select(Round.id).where(
        Round.project_id == batch.project_id, Round.number.is_not(None), Round.id != batch.id
    )
    tasks = select(Task.id).where(Task.round_id.in_(earlier))
    session.execute(delete(Lease).where(Lease.task_id.in_(tasks)).execution_options(**_UNSEEN))


def leases_of_others(annotator: str, now: datetime) -> Select[datetime]:
    """Select when each lease ends by which somebody else has the task's pair, in whichever round.

    One's own leases never block. A batch may contain a pair of an audit batch that is still in somebody's buffer.
    """
    lease = aliased(Lease)
    leased = aliased(Task)
    same = (getattr(leased, column) == getattr(Task, column) for column in _PAIR)
    ends = select(lease.expires_at).join(leased, leased.id == lease.task_id)
    return ends.where(*same, lease.expires_at > now, lease.annotator != annotator)


def surplus(
    session: Session, tasks: Select[Task], project_id: int, annotator: str, now: datetime, free: int, most: int
) -> list[int]:
    """Return which of these tasks others lose to the annotator, who has so many free ones: all beyond a fair part.

    Up to `most`, and to an equal part of the tasks, each from whoever has most: of their device with most, the one that
    it shows last. Nobody loses their last one, which they may be reading.
    """
    anybody = select(Lease.task_id).join(Task, Task.id == Lease.task_id).where(Task.project_id == project_id)
    if session.scalar(anybody.where(Lease.expires_at > now, Lease.annotator != annotator).limit(1)) is None:
        return []
    lease = aliased(Lease)
    leased = aliased(Task)
    same = (getattr(leased, column) == getattr(Task, column) for column in _PAIR)
    rows = (
        tasks.join(leased, and_(*same))
        .join(lease, lease.task_id == leased.id)
        .where(lease.expires_at > now, lease.annotator != annotator)
        .with_only_columns(Task.id, lease.annotator, lease.device)
        .order_by(lease.expires_at.desc(), Task.id)
    )
    desks: dict[str, dict[str | None, list[int]]] = defaultdict(lambda: defaultdict(list))
    blocked: set[int] = set()
    for task_id, holder, device in session.execute(rows):
        if task_id not in blocked:
            desks[holder][device].append(task_id)
        blocked.add(task_id)
    fair = max(1, (free + len(blocked)) // (len(desks) + 1))
    return _taken(list(desks.values()), fair, min(fair, most) - free)


def _taken(people: list[dict[str | None, list[int]]], fair: int, count: int) -> list[int]:
    """Return up to `count` tasks, each the last of whoever has most, while that is more than a fair part."""
    leased_ids: list[int] = []
    while len(leased_ids) < count:
        sizes = [sum(map(len, devices.values())) for devices in people]
        if max(sizes, default=0) <= fair:
            break
        devices = people[sizes.index(max(sizes))]
        leased_ids.append(max(devices.values(), key=len).pop())
    return leased_ids
