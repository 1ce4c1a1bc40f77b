"""Metrics of a whole installation from its rows, for a monitoring system that polls often: cheap queries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, case, func, select
from sqlalchemy.orm import Session

from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.schema.tables import Answer, Job, Lease, PairLabel, Project, Task

_NOT_IN_BIN = Project.deleted_at.is_(None)  # not in the bin


def label_numbers(session: Session) -> Sequence[tuple[str, str, int]]:
    """Return project, label and number of pairs."""
    counted = select(PairLabel.project_id, PairLabel.answer, func.count().label("pairs"))
    pairs = counted.group_by(PairLabel.project_id, PairLabel.answer).subquery()
    named = select(Project.name, pairs.c.answer, pairs.c.pairs).join(pairs, pairs.c.project_id == Project.id)
    return [(name, label, number) for name, label, number in session.execute(named.where(_NOT_IN_BIN))]


def last_answer_times(session: Session) -> Sequence[tuple[str, datetime]]:
    """Return project and time of its last answer; leave out projects without answers."""
    newest = select(func.max(Answer.created_at)).where(Answer.project_id == Project.id).scalar_subquery()
    rows = session.execute(select(Project.name, newest).where(_NOT_IN_BIN))
    return [(name, time) for name, time in rows if time is not None]


def leases(session: Session, time: datetime) -> Sequence[tuple[str, int]]:
    """Return project and number of its leased pairs at this time; leave out projects without any."""
    counted = select(Project.name, func.count()).join(Task, Task.project_id == Project.id).join(Lease)
    open_ = counted.where(Lease.expires_at > time, _NOT_IN_BIN).group_by(Project.name)
    return [(name, number) for name, number in session.execute(open_)]


def jobs(session: Session) -> Sequence[tuple[str, str, int]]:
    """Return kind, state and number of jobs."""
    counted = select(Job.kind, Job.state, func.count()).group_by(Job.kind, Job.state)
    return [(kind, state, number) for kind, state, number in session.execute(counted)]


def waiting(session: Session) -> dict[str, int]:
    """Return how many jobs wait in each queue, given the present workers; leave out empty queues."""
    served = served_queues(session)
    lengths: dict[str, int] = {}
    for kind, state, number in jobs(session):
        if state == "waiting":
            queue = queue_of(kind, served)
            lengths[queue] = lengths.get(queue, 0) + number
    return lengths


def durations(session: Session, bounds: Sequence[float]) -> Sequence[tuple[str, int, int, float]]:
    """Return a histogram of finished jobs' seconds since their request: kind, place among the bounds, number of jobs
    above the previous bound and up to this one, and their total seconds.
    """
    seconds = _seconds_between(session, Job.created_at, Job.updated_at)
    place = case(*((seconds <= bound, index) for index, bound in enumerate(bounds)), else_=len(bounds))
    job_seconds = select(Job.kind, place.label("place"), seconds.label("seconds")).where(Job.state == "done").subquery()
    sums = select(job_seconds.c.kind, job_seconds.c.place, func.count(), func.sum(job_seconds.c.seconds))
    rows = session.execute(sums.group_by(job_seconds.c.kind, job_seconds.c.place))
    return [(kind, place, number, float(total)) for kind, place, number, total in rows]


def _seconds_between(session: Session, first: Any, last: Any) -> ColumnElement[Any]:
    if session.get_bind().dialect.name == "postgresql":
        return func.extract("epoch", last - first)
    return (func.julianday(last) - func.julianday(first)) * 86_400
