"""Answers: appended, never changed. What counts as a label is read from them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from db.domain import AnswerKind, Purpose
from db.models import Answer, Task


@dataclass(frozen=True)
class Label:
    """The answer on a pair that counts."""

    left_id: int
    right_id: int
    answer: AnswerKind
    annotator: str
    answer_id: int
    task_id: int | None


def counting_ids(project_id: int, up_to: int | None = None, round_id: int | None = None) -> Select[int]:
    """The ids of the answers that count, at most one for each pair, as a part of other selects.

    An annotator's last answer on a pair counts unless it is retracted; a skip is no answer. Where several annotators
    answered, the last of their answers counts. `round_id`: only the pairs of this round, whoever put them up.
    """
    own = select(func.max(Answer.id)).where(Answer.project_id == project_id, Answer.answer != AnswerKind.SKIP)
    if up_to is not None:
        own = own.where(Answer.id <= up_to)
    if round_id is not None:
        same_pair = and_(Answer.left_id == Task.left_id, Answer.right_id == Task.right_id)
        own = own.join(Task, same_pair).where(Task.round_id == round_id)
    own = own.group_by(Answer.left_id, Answer.right_id, Answer.annotator)
    kept = select(func.max(Answer.id)).where(Answer.id.in_(own), Answer.answer != AnswerKind.RETRACT)
    return kept.group_by(Answer.left_id, Answer.right_id)


def current_labels(session: Session, project_id: int, up_to: int | None = None) -> list[Label]:
    """The labels of the project as they were when answer `up_to` was the last one, in the order they were given."""
    columns = (Answer.left_id, Answer.right_id, Answer.answer, Answer.annotator, Answer.id, Answer.task_id)
    rows = session.execute(select(*columns).where(Answer.id.in_(counting_ids(project_id, up_to))).order_by(Answer.id))
    return [Label(left, right, AnswerKind(answer), who, id_, task) for left, right, answer, who, id_, task in rows]


def label_counts(session: Session, project_id: int) -> dict[AnswerKind, int]:
    """How many pairs of the project carry each label."""
    counted = select(Answer.answer, func.count()).where(Answer.id.in_(counting_ids(project_id)))
    return {AnswerKind(answer): count for answer, count in session.execute(counted.group_by(Answer.answer))}


def purpose_counts(session: Session, project_id: int) -> dict[tuple[Purpose, AnswerKind], int]:
    """How many pairs of the project carry each label, by what the task was for; imported labels are for training."""
    purpose = func.coalesce(Task.purpose, Purpose.TRAIN)
    counted = select(purpose, Answer.answer, func.count()).outerjoin(Task, Task.id == Answer.task_id)
    rows = session.execute(counted.where(Answer.id.in_(counting_ids(project_id))).group_by(purpose, Answer.answer))
    return {(Purpose(what), AnswerKind(answer)): count for what, answer, count in rows}


def answered_since(session: Session, project_id: int, moment: datetime) -> bool:
    """Whether anybody has answered a pair of the project after this moment; answers that only measure are no news."""
    later = select(Answer.id).where(Answer.project_id == project_id, Answer.created_at > moment)
    trains = later.outerjoin(Task, Task.id == Answer.task_id).where(Task.purpose.is_distinct_from(Purpose.AUDIT))
    return session.scalar(trains.limit(1)) is not None


def known_keys(session: Session, keys: Iterable[str]) -> set[str]:
    """Those of the clients' keys whose answer is stored already."""
    return set(session.scalars(select(Answer.key).where(Answer.key.in_(list(keys)))))


def keys_like(session: Session, project_id: int, start: str) -> set[str]:
    """The keys of the project's answers that begin with this."""
    mine = select(Answer.key).where(Answer.project_id == project_id, Answer.key.startswith(start, autoescape=True))
    return set(session.scalars(mine))


def store_answers(session: Session, rows: Sequence[dict[str, Any]]) -> None:
    """Nothing; each row is stored unless its key already is."""
    if not rows:
        return
    # Two tabs may replay the same answers at once; where the database lets both write, the second must not fail.
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    session.execute(dialect.insert(Answer).on_conflict_do_nothing(index_elements=["key"]), rows)
