"""What is known of some pairs: splits, labels, gold answers, tasks. Never reads all pairs at once."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, select, tuple_
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Side, Split
from allpairs.db.schema.tables import Gold, Item, PairLabel, Round, Task

CHUNK = 5_000  # pairs or items in one statement
Pair = tuple[int, int]  # item ids, left and right


def splits_of(session: Session, project_id: int, item_ids: Collection[int]) -> dict[int, Split]:
    """Return the split of each of these items; leave out withdrawn ones, and items of other projects."""
    splits: dict[int, Split] = {}
    for chunk in _chunks(item_ids):
        query = select(Item.id, Item.split).where(Item.project_id == project_id, Item.withdrawn_at.is_(None))
        splits |= {id_: Split(split) for id_, split in session.execute(query.where(Item.id.in_(chunk)))}
    return splits


def left_items(session: Session, item_ids: Collection[int]) -> list[int]:
    """Return which of these items are in the left list, ascending."""
    queries = (select(Item.id).where(Item.id.in_(chunk), Item.side == Side.LEFT) for chunk in _chunks(item_ids))
    return sorted(id_ for query in queries for id_ in session.scalars(query))


def labels_of(session: Session, project_id: int, pairs: Collection[Pair]) -> dict[Pair, AnswerKind]:
    """Return the label of each of these pairs that has one."""
    labels: dict[Pair, AnswerKind] = {}
    for condition in among(PairLabel, pairs):
        label = select(PairLabel.left_id, PairLabel.right_id, PairLabel.answer)
        rows = session.execute(label.where(PairLabel.project_id == project_id, condition))
        labels |= {(left, right): AnswerKind(answer) for left, right, answer in rows}
    return labels


def gold_answers(session: Session, pairs: Collection[Pair]) -> dict[Pair, bool]:
    """Return whether each of these pairs matches, for pairs with a gold answer."""
    gold: dict[Pair, bool] = {}
    for condition in among(Gold, pairs):
        rows = session.execute(select(Gold.left_id, Gold.right_id, Gold.positive).where(condition))
        gold |= {(left, right): bool(positive) for left, right, positive in rows}
    return gold


def in_round(session: Session, batch: Round, pairs: Collection[Pair]) -> set[Pair]:
    """Return which of the pairs are tasks of the round."""
    pairs_in_round: set[Pair] = set()
    for condition in among(Task, pairs):
        rows = session.execute(select(Task.left_id, Task.right_id).where(Task.round_id == batch.id, condition))
        pairs_in_round |= {(left, right) for left, right in rows}
    return pairs_in_round


def among(table: Any, pairs: Collection[Pair]) -> Iterator[ColumnElement[bool]]:
    """Yield conditions that together select the rows of these pairs."""
    for chunk in _chunks(pairs):
        yield tuple_(table.left_id, table.right_id).in_(chunk)


def _chunks(things: Collection[Any]) -> Iterator[list[Any]]:
    rest = iter(sorted(set(things)))
    while chunk := list(islice(rest, CHUNK)):
        yield chunk
