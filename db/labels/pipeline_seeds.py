"""The positive pairs that a pipeline can start with, and those for measuring it."""

from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session, aliased

from allpairs.db.domain import DECIDED, AnswerKind, Split
from allpairs.db.schema.tables import Gold, Item, PairLabel

LEFT = aliased(Item)
RIGHT = aliased(Item)


def labelled_positives(project_id: int) -> Select[int, int]:
    """Select the training pairs labelled positive: columns left_id, right_id."""
    pairs = select(PairLabel.left_id, PairLabel.right_id)
    conditions = (PairLabel.project_id == project_id, PairLabel.answer == AnswerKind.POSITIVE)
    return _among(pairs, PairLabel, *conditions, LEFT.split != Split.EVALUATION, RIGHT.split != Split.EVALUATION)


def training_label_rows(project_id: int) -> Select[int, int, AnswerKind]:
    """Select the training pairs labelled positive or negative: columns left_id, right_id, answer."""
    pairs = select(PairLabel.left_id, PairLabel.right_id, PairLabel.answer)
    conditions = (PairLabel.project_id == project_id, PairLabel.answer.in_(DECIDED))
    return _among(pairs, PairLabel, *conditions, LEFT.split != Split.EVALUATION, RIGHT.split != Split.EVALUATION)


def training_gold_rows(project_id: int) -> Select[int, int, bool]:
    """Select all known pairs of training items: columns left_id, right_id, positive."""
    pairs = select(Gold.left_id, Gold.right_id, Gold.positive)
    trains = (LEFT.split != Split.EVALUATION, RIGHT.split != Split.EVALUATION)
    return _among(pairs, Gold, Gold.project_id == project_id, *trains)


def measuring_positives(project_id: int) -> Select[int, int, bool]:
    """Select the known positives of evaluation items: columns left_id, right_id, positive."""
    pairs = select(Gold.left_id, Gold.right_id, Gold.positive)
    measures = (LEFT.split == Split.EVALUATION, RIGHT.split.in_((Split.EVALUATION, Split.SHARED)))
    return _among(pairs, Gold, Gold.project_id == project_id, Gold.positive.is_(True), *measures)


def _among(pairs: Select[*tuple[Any, ...]], table: Any, *conditions: ColumnElement[bool]) -> Any:
    joined = pairs.join(LEFT, LEFT.id == table.left_id).join(RIGHT, RIGHT.id == table.right_id)
    joined = joined.where(LEFT.withdrawn_at.is_(None), RIGHT.withdrawn_at.is_(None))
    return joined.where(*conditions).order_by(table.left_id, table.right_id)


def seed_counts(session: Session, project_id: int, most: int) -> tuple[int, int]:
    """Count the training pairs labelled positive, and the known positives; each up to `most`."""
    known = training_gold_rows(project_id).where(Gold.positive)
    seeds = [
        len(session.execute(pairs.order_by(None).limit(most)).all())
        for pairs in (labelled_positives(project_id), known)
    ]
    return seeds[0], seeds[1]
