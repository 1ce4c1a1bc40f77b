"""Batches and their answers."""

from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import Purpose
from allpairs.db.schema.tables import Answer, Round, Task


def batches_of(session: Session, project_id: int) -> list[Round]:
    """Return the batches of the project, the first one first, without audit batches."""
    batches = select(Round).where(Round.project_id == project_id, Round.number.is_not(None))
    return list(session.scalars(batches.order_by(Round.number)))


def last_answer_at(session: Session, round_id: int) -> datetime | None:
    """Return when a task of the round was last answered."""
    return session.scalar(
        select(func.max(Answer.created_at)).join(Task, Task.id == Answer.task_id).where(Task.round_id == round_id)
    )


def audit_counts(session: Session, project_id: int) -> dict[int, int]:
    """Return the number of audit tasks of each round, by its id; leave out rounds without any."""
    query = select(Task.round_id, func.count()).where(Task.project_id == project_id, Task.purpose == Purpose.AUDIT)
    return dict(session.execute(query.group_by(Task.round_id)).all())
