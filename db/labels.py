"""The labels of a project with all that is known about each: what an export needs."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from db.answers import counting_ids
from db.domain import AnswerKind
from db.models import Answer, Round, Task


@dataclass(frozen=True)
class LabelRow:
    """A label and the task it answers; round, strategy and score are empty for imported labels."""

    left_id: int
    right_id: int
    answer: AnswerKind
    annotator: str
    created_at: datetime
    round: int | None
    strategy: str | None
    score: float | None


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
        )
        .outerjoin(Task, Task.id == Answer.task_id)
        .outerjoin(Round, Round.id == Task.round_id)
        .where(Answer.id.in_(counting_ids(project_id)))
        .order_by(Answer.id)
    )
    return [
        LabelRow(left, right, AnswerKind(answer), annotator, time, number, strategy, score)
        for left, right, answer, annotator, time, number, strategy, score in rows
    ]
