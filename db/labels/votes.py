"""Votes: what different annotators say about one pair, as it stands; which pairs want more of them."""

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select
from sqlalchemy.orm import Session

from db.domain import LABELS, AnswerKind, Settings
from db.labels.answers import changed
from db.schema.tables import Answer, PairLabel, Project, Task

DOUBTFUL = (AnswerKind.POSITIVE, AnswerKind.UNSURE)  # what gets a double check
SAME_PAIR = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)


def labelled() -> ColumnElement[bool]:
    """Whether the task's pair has a label."""
    return select(PairLabel.answer_id).where(SAME_PAIR).exists()


def doubtful() -> ColumnElement[bool]:
    """Whether somebody calls the task's pair a match, or is unsure of it."""
    return _votes().where(Answer.answer.in_(DOUBTFUL)).exists()


def double_check(session: Session, project_id: int) -> int:
    """How many annotators label a pair that one of them calls a match or is unsure of; 1: no more than any other."""
    settings = Settings.model_validate(session.get_one(Project, project_id).settings)
    return settings.votes if settings.double_check else 1


def wants_vote_of(annotator: str, looks: int) -> ColumnElement[bool]:
    """Whether the task's pair, which is labelled, wants another vote, and this annotator has none on it.

    looks: what `double_check` says. A pair that a review has settled wants none.
    """
    votes = _votes()
    count = votes.with_only_columns(func.count()).scalar_subquery()
    settled = select(Answer.id).join(PairLabel, PairLabel.answer_id == Answer.id).where(SAME_PAIR, Answer.settles)
    wanted: ColumnElement[int] = Task.votes.expression
    several: ColumnElement[bool] = Task.votes > 1
    if looks > 1:
        wanted = case((Task.votes > 1, Task.votes), (doubtful(), looks), else_=1)
        several = or_(several, doubtful())
    mine = votes.where(Answer.annotator == annotator).exists()
    return and_(several, ~mine, count < wanted, ~settled.exists())


def _votes() -> Select[int]:
    """The answers on the task's pair that stand: of each annotator the last one, unless it retracts. A skip is none."""
    pair = (Answer.project_id == Task.project_id, Answer.left_id == Task.left_id, Answer.right_id == Task.right_id)
    return select(Answer.id).where(*pair, Answer.answer.in_(LABELS), ~changed())
