"""The labels of a project with everything that an export needs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select, true
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import AnswerKind, Purpose
from allpairs.db.labels.answers import counting_ids
from allpairs.db.schema.tables import Answer, Round, StoredModel, Task


@dataclass(frozen=True)
class LabelRow:
    """An answer and its task; round, model, strategy and score are empty for imported labels, and round for audits.

    The purpose is that of the pair: if it has an audit task, its label is never used for training. counts: whether this
    answer is its pair's label; seconds: time on screen, if known; guidelines: their version at that time; model: the
    round of the matcher that chose the pair, 0 for the pre-trained encoder.
    """

    left_id: int
    right_id: int
    answer: AnswerKind
    annotator: str
    created_at: datetime
    seconds: float | None
    note: str | None
    guidelines: str | None
    round: int | None
    model: int | None
    strategy: str | None
    score: float | None
    purpose: Purpose
    counts: bool
    answer_id: int


def label_rows(session: Session, project_id: int, after: int = 0, limit: int | None = None) -> list[LabelRow]:
    """Return the current label of each pair in the order they were given: `limit` labels after an answer."""
    counting = _answers(project_id, true()).where(Answer.id.in_(counting_ids(project_id)), Answer.id > after)
    return list(_read(session, counting.limit(limit)))


def history_rows(session: Session, project_id: int) -> Iterator[LabelRow]:
    """Yield every answer of the project in the order they were given, with corrections, skips and retractions."""
    counts = Answer.id.in_(counting_ids(project_id))
    return _read(session, _answers(project_id, counts).where(Answer.project_id == project_id))


def answers_on_pair(
    session: Session, project_id: int, left_id: int, right_id: int, annotator: str | None = None
) -> list[LabelRow]:
    """Return every answer on the pair, or only this annotator's, in the order they were given."""
    counts = Answer.id.in_(counting_ids(project_id))
    conditions = (Answer.project_id == project_id, Answer.left_id == left_id, Answer.right_id == right_id)
    query = _answers(project_id, counts).where(*conditions)
    return list(_read(session, query if annotator is None else query.where(Answer.annotator == annotator)))


def noted(session: Session, project_id: int) -> int:
    """Return how many answers of the project have a note."""
    return session.scalar(select(func.count(Answer.id)).where(Answer.project_id == project_id, Answer.note != "")) or 0


def _answers(project_id: int, counts: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Select the columns of LabelRow in their order."""
    act = (Answer.left_id, Answer.right_id, Answer.answer, Answer.annotator, Answer.created_at, Answer.seconds)
    task_columns = (Round.number, StoredModel.number, Task.strategy, Task.score)
    return (
        select(*act, Answer.note, Answer.guidelines, *task_columns, _audited(project_id), counts, Answer.id)
        .outerjoin(Task, Task.id == Answer.task_id)
        .outerjoin(Round, Round.id == Task.round_id)
        .outerjoin(StoredModel, StoredModel.id == Round.matcher_id)
        .order_by(Answer.id)
    )


def _read(session: Session, answers: Select[*tuple[Any, ...]]) -> Iterator[LabelRow]:
    for row in session.execute(answers.execution_options(yield_per=10_000)):
        left, right, answer, annotator, time, seconds, note, version, *task, counts, id_ = row
        number, model, strategy, score, audited = task
        answer_values = AnswerKind(answer), annotator, time, seconds, note, version
        task_values = number, model, strategy, score, Purpose.AUDIT if audited else Purpose.TRAIN
        yield LabelRow(left, right, *answer_values, *task_values, bool(counts), id_)


def _audited(project_id: int) -> ColumnElement[bool]:
    """Tell whether the answer's pair has an audit task, even if the answer was given on another task."""
    audit = aliased(Task)
    same_pair = and_(audit.left_id == Answer.left_id, audit.right_id == Answer.right_id)
    return select(audit.id).where(audit.project_id == project_id, same_pair, audit.purpose == Purpose.AUDIT).exists()
