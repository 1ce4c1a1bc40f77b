"""Votes: different annotators' current answers on one pair; and which pairs need more of them."""

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select

from allpairs.db.domain import LABELS, AnswerKind, Settings
from allpairs.db.labels.answers import changed
from allpairs.db.schema.tables import Answer, PairLabel, Task

DOUBTFUL = (AnswerKind.POSITIVE, AnswerKind.UNSURE)  # answers that get a double check
SAME_PAIR = and_(PairLabel.left_id == Task.left_id, PairLabel.right_id == Task.right_id)


def labelled() -> ColumnElement[bool]:
    """Tell whether the task's pair has a label."""
    return select(PairLabel.answer_id).where(SAME_PAIR).exists()


def doubtful() -> ColumnElement[bool]:
    """Tell whether somebody marked the task's pair as a match or unsure."""
    return _votes().where(Answer.answer.in_(DOUBTFUL)).exists()


def looks_of(settings: Settings) -> int:
    """Return how many annotators label a pair that one of them marked match or unsure; 1: no double check."""
    return settings.votes if settings.double_check else 1


def wants_vote_of(annotator: str, looks: int) -> ColumnElement[bool]:
    """Tell whether the task's labelled pair needs another vote and this annotator has none on it.

    looks: as in `looks_of`. A pair settled by a review needs none.
    """
    votes = _votes()
    count = votes.with_only_columns(func.count()).scalar_subquery()
    settled = select(Answer.id).join(PairLabel, PairLabel.answer_id == Answer.id).where(SAME_PAIR, Answer.settles)
    votes_needed: ColumnElement[int] = Task.votes.expression
    several: ColumnElement[bool] = Task.votes > 1
    if looks > 1:
        votes_needed = case((Task.votes > 1, Task.votes), (doubtful(), looks), else_=1)
        several = or_(several, doubtful())
    own_vote = votes.where(Answer.annotator == annotator).exists()
    return and_(several, ~own_vote, count < votes_needed, ~settled.exists())


def _votes() -> Select[int]:
    """Select the current answers on the task's pair: each annotator's last, unless retracted. Skips are not answers."""
    pair = (Answer.project_id == Task.project_id, Answer.left_id == Task.left_id, Answer.right_id == Task.right_id)
    return select(Answer.id).where(*pair, Answer.answer.in_(LABELS), ~changed())
