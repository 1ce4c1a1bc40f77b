"""Reviews: pairs on which annotators disagree or that are labelled unsure, and the answers that settle them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, Subquery, and_, distinct, func, or_, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import LABELS, AnswerKind
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.schema.tables import Answer, FastAnswersTask, PairLabel, Task


@dataclass(frozen=True)
class Vote:
    """One annotator's current answer on a pair."""

    annotator: str
    answer: AnswerKind
    note: str
    time: datetime


@dataclass(frozen=True)
class Open:
    """A pair to review: annotators disagree on it, or it is unsure. answer_id, task_id: of the current label."""

    left_id: int
    right_id: int
    answer_id: int
    task_id: int | None
    disagreement: bool


def open_pairs(session: Session, project_id: int) -> list[Open]:
    """Return the pairs to review, the longest waiting first; none with a withdrawn text."""
    disputed = _disputed(project_id)
    is_disputed = disputed.c.left_id.is_not(None)
    same = and_(disputed.c.left_id == PairLabel.left_id, disputed.c.right_id == PairLabel.right_id)
    chosen = (
        select(PairLabel.left_id, PairLabel.right_id, Answer.id, Answer.task_id, is_disputed)
        .join(Answer, Answer.id == PairLabel.answer_id)
        .outerjoin(disputed, same)
        .where(PairLabel.project_id == project_id, texts_present(PairLabel, project_id))
        .where(or_(is_disputed, and_(PairLabel.answer == AnswerKind.UNSURE, ~Answer.settles)))
    )
    rows = session.execute(chosen.order_by(PairLabel.answer_id))
    return [Open(left, right, answer, task, bool(disagree)) for left, right, answer, task, disagree in rows]


def _disputed(project_id: int) -> Subquery:
    """Select the pairs on which annotators' votes differ; an answer that settles a pair settles those before it."""
    votes = _votes(project_id, Answer.answer != AnswerKind.SKIP).subquery()
    pair = (votes.c.left_id, votes.c.right_id)
    label = aliased(Answer)
    same = and_(PairLabel.left_id == votes.c.left_id, PairLabel.right_id == votes.c.right_id)
    unsettled = select(*pair).join(PairLabel, same).join(label, label.id == PairLabel.answer_id)
    unsettled = unsettled.where(or_(~label.settles, votes.c.id >= label.id))
    return unsettled.group_by(*pair).having(func.count(distinct(votes.c.answer)) > 1).subquery()


def _votes(project_id: int, acts: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Select among these acts the current answers on shared pairs: left_id, right_id, id, annotator, answer."""
    in_project = Answer.project_id == project_id
    pair = (Answer.left_id, Answer.right_id)
    # An index alone answers this, so that the few pairs of several annotators are found among very many.
    counted = select(*pair).where(in_project).group_by(*pair)
    several = counted.having(func.min(Answer.annotator) != func.max(Answer.annotator)).subquery()
    same_pair = and_(Answer.left_id == several.c.left_id, Answer.right_id == several.c.right_id)
    last = select(func.max(Answer.id)).join(several, same_pair).where(in_project, acts)
    last = last.group_by(*pair, Answer.annotator)
    return select(*pair, Answer.id, Answer.annotator, Answer.answer).where(
        Answer.id.in_(last), Answer.answer.in_(LABELS)
    )


def votes_on(session: Session, project_id: int, left_id: int, right_id: int) -> list[Vote]:
    """Return the vote of each annotator on the pair, the first answer first."""
    conditions = (Answer.project_id == project_id, Answer.left_id == left_id, Answer.right_id == right_id)
    last = select(func.max(Answer.id)).where(*conditions, Answer.answer != AnswerKind.SKIP).group_by(Answer.annotator)
    rows = session.scalars(select(Answer).where(Answer.id.in_(last), Answer.answer.in_(LABELS)).order_by(Answer.id))
    return [Vote(row.annotator, AnswerKind(row.answer), row.note or "", row.created_at) for row in rows]


def shared_votes(session: Session, project_id: int, drawn: bool) -> Sequence[tuple[int, int, str, AnswerKind]]:
    """Return (left_id, right_id, annotator, answer) of every vote on pairs with several votes, without reviews.

    drawn: only pairs chosen at random for several annotators, so that their agreement holds for all pairs. An
    annotator's answer before they settled the pair themselves remains their vote.
    """
    votes = _votes(project_id, and_(Answer.answer != AnswerKind.SKIP, ~Answer.settles)).subquery()
    query = select(votes.c.left_id, votes.c.right_id, votes.c.annotator, votes.c.answer)
    if drawn:
        fast = select(FastAnswersTask.task_id).where(FastAnswersTask.task_id == Task.id)
        tasks = select(Task.id).where(
            Task.project_id == project_id,
            Task.votes > 1,
            ~fast.exists(),
            Task.left_id == votes.c.left_id,
            Task.right_id == votes.c.right_id,
        )
        query = query.where(tasks.exists())
    rows = session.execute(query.order_by(votes.c.left_id, votes.c.right_id, votes.c.id))
    shared = [(left, right, annotator, AnswerKind(answer)) for left, right, annotator, answer in rows]
    voters = Counter((left, right) for left, right, _, _ in shared)
    return [vote for vote in shared if voters[vote[:2]] > 1]
