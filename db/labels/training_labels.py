"""The labels that train: matches and non-matches of pairs that are neither for measuring nor withdrawn."""

from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, select, tuple_
from sqlalchemy.orm import Session

from allpairs.db.domain import DECIDED, AnswerKind, Purpose, Split
from allpairs.db.groups.decisions import training_decisions
from allpairs.db.labels.answers import counting_ids
from allpairs.db.schema.tables import Answer, Item, PairLabel, Task


def training_counts(session: Session, project_id: int) -> tuple[int, int]:
    """Return how many matches and how many non-matches the next training would learn from."""
    labels = select(PairLabel.answer, func.count()).where(
        PairLabel.project_id == project_id, PairLabel.purpose == Purpose.TRAIN, _may_train(PairLabel)
    )
    counts = dict(session.execute(labels.group_by(PairLabel.answer)).tuples().all())
    same = [decision.same for decision in training_decisions(session, project_id)]
    return (
        counts.get(AnswerKind.POSITIVE, 0) + sum(same),
        counts.get(AnswerKind.NEGATIVE, 0) + len(same) - sum(same),
    )


def training_labels_changed(session: Session, project_id: int, cutoff: int) -> bool:
    """Return whether a label that trains was added, corrected or taken back after answer `cutoff`."""
    if session.execute(_answered_after(project_id, cutoff).limit(1)).first() is None:
        return False
    pairs = tuple_(Answer.left_id, Answer.right_id).in_(_answered_after(project_id, cutoff))
    labels = select(Answer.left_id, Answer.right_id, Answer.answer).where(
        Answer.answer.in_(DECIDED), pairs, _may_train(Answer)
    )
    before, now = (
        set(session.execute(labels.where(Answer.id.in_(counting_ids(project_id, up_to, pairs)))))
        for up_to in (cutoff, None)
    )
    return before != now


def _answered_after(project_id: int, cutoff: int) -> Select[int, int]:
    """Select the pairs that were answered for training after answer `cutoff`."""
    trains = Task.purpose.is_distinct_from(Purpose.AUDIT)
    answers = select(Answer.left_id, Answer.right_id).outerjoin(Task, Task.id == Answer.task_id)
    return answers.where(Answer.project_id == project_id, Answer.id > cutoff, trains).distinct()


def _may_train(table: Any) -> ColumnElement[bool]:
    """Tell whether both texts of the table's pair may train and are still there."""
    return and_(*(_text_may_train(item_id) for item_id in (table.left_id, table.right_id)))


def _text_may_train(item_id: ColumnElement[int]) -> ColumnElement[bool]:
    trains = Item.split != Split.EVALUATION, Item.withdrawn_at.is_(None)
    return select(Item.id).where(Item.id == item_id, *trains).exists()
