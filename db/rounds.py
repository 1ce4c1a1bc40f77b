"""Batches and what people answered in them."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from db.answers import counting_ids
from db.domain import AnswerKind, Purpose
from db.models import Answer, Round, Task


def rounds_of(session: Session, project_id: int) -> list[Round]:
    """The batches of the project, the first one first."""
    return list(session.scalars(select(Round).where(Round.project_id == project_id).order_by(Round.number)))


def answer_counts(session: Session, project_id: int) -> dict[int, dict[AnswerKind, int]]:
    """For each round's id: how many pairs were given each label in it, the reserve included.

    A label counts in the round whose task was answered, and nowhere else. Audit tasks are left out: they measure, and
    belong to no batch that trains.
    """
    rows = session.execute(
        select(Task.round_id, Answer.answer, func.count())
        .join(Answer, Answer.task_id == Task.id)
        .where(Answer.id.in_(counting_ids(project_id)), Task.purpose == Purpose.TRAIN)
        .group_by(Task.round_id, Answer.answer)
    )
    counts: dict[int, dict[AnswerKind, int]] = {}
    for round_id, answer, count in rows:
        counts.setdefault(round_id, {})[AnswerKind(answer)] = count
    return counts
