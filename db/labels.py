"""The labels of a project with all that is known about each: what an export needs."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session, aliased

from db.answers import counting_ids
from db.domain import AnswerKind, Purpose
from db.models import Answer, Round, Task


@dataclass(frozen=True)
class LabelRow:
    """A label and the task it answers; round, strategy and score are empty for imported labels, and round in a sitting.

    The purpose is that of the pair: where it has an audit task, its label never trains.
    """

    left_id: int
    right_id: int
    answer: AnswerKind
    annotator: str
    created_at: datetime
    round: int | None
    strategy: str | None
    score: float | None
    purpose: Purpose


def label_rows(session: Session, project_id: int) -> list[LabelRow]:
    """The current label of each pair of the project, in the order they were given."""
    rows = session.execute(
        select(
            Answer.left_id,
            Answer.right_id,
            Answer.answer,
            Answer.annotator,
            Answer.created_at,
            Round.number,
            Task.strategy,
            Task.score,
            _audited(project_id),
        )
        .outerjoin(Task, Task.id == Answer.task_id)
        .outerjoin(Round, Round.id == Task.round_id)
        .where(Answer.id.in_(counting_ids(project_id)))
        .order_by(Answer.id)
    )
    return [
        LabelRow(left, right, AnswerKind(answer), annotator, time, number, strategy, score, _PURPOSE[audited])
        for left, right, answer, annotator, time, number, strategy, score, audited in rows
    ]


_PURPOSE = {False: Purpose.TRAIN, True: Purpose.AUDIT}


def _audited(project_id: int) -> ColumnElement[bool]:
    """Whether the pair of the answer has an audit task, on which that answer need not have been given."""
    audit = aliased(Task)
    same_pair = and_(audit.left_id == Answer.left_id, audit.right_id == Answer.right_id)
    return select(audit.id).where(audit.project_id == project_id, same_pair, audit.purpose == Purpose.AUDIT).exists()
