"""Gold pairs: read, checked against the items, and closed transitively in a symmetric corpus."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.cells import Ids, label_of, present_columns, shown, with_noun
from allpairs.db.corpus.files import TO_BE_FOUND, FileFormat, ReadFile, column_names, read_rows
from allpairs.db.errors import InputError

MAX_CLOSURE = 20_000_000  # pairs

Positions = Mapping[str, int]


class GoldPair(NamedTuple):
    """A known answer; `left` and `right` are positions of items, left < right in a symmetric corpus."""

    left: int
    right: int
    positive: bool
    closure: bool = False  # not given, but follows from given positives


class GoldColumns(NamedTuple):
    """The columns of a file of pairs: two ids, and a label, without which every pair is positive.

    stated: what people say of how the file holds them.
    """

    left: str = "id1"
    right: str = "id2"
    label: str = "label"
    stated: FileFormat = TO_BE_FOUND


USUAL_COLUMNS = GoldColumns()


@dataclass
class _GoldFile:
    """The pairs of a gold file, and the rows to mention in the notes."""

    pairs: dict[tuple[int, int], bool] = field(default_factory=dict)
    same_item: list[str] = field(default_factory=list)
    same_item_negative: list[str] = field(default_factory=list)
    contradicted: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    unlabelled: list[str] = field(default_factory=list)
    row_of_negative: dict[tuple[int, int], str] = field(default_factory=dict)


def read_gold(
    path: Path, known: tuple[Positions, Positions], symmetric: bool, columns: GoldColumns, notes: list[str]
) -> list[GoldPair]:
    """Return the gold pairs of a file, closed if symmetric; add notes for the user.

    With a label column, pairs without a label are left out. Raises InputError for unknown ids and
    labels, and for a closure above MAX_CLOSURE pairs.
    """
    gold_file = _read(path, known, symmetric, columns, notes)
    pairs = (
        _closed(gold_file, path) if symmetric else [GoldPair(*pair, label) for pair, label in gold_file.pairs.items()]
    )
    notes += _notes(gold_file, path)
    return pairs


def _read(
    path: Path, known: tuple[Positions, Positions], symmetric: bool, columns: GoldColumns, notes: list[str]
) -> _GoldFile:
    gold_file = _GoldFile()
    named = column_names(path, columns.stated)
    present = (*columns[:2], *present_columns([columns.label], named, path.name))
    if len(present) == 2 and (other_columns := [name for name in named if name not in ("", *present)]):
        no_label = f"{path.name} has no column {shown(columns.label)}, so every pair counts as positive; it has"
        notes.append(f"{no_label} {', '.join(map(shown, other_columns[:5]))}.")
    list_names = ("the list", "the list") if symmetric else ("the left list", "the right list")
    ids = Ids(known[0], list_names[0]), Ids(known[1], list_names[1])
    for number, values in read_rows(path, present, stated=columns.stated, about=ReadFile(notes=notes)):
        left, right = (_position(values[index], ids, index, path, number, present[index]) for index in (0, 1))
        positive = label_of(values[2], path, number, columns.label) if len(values) > 2 else True
        pair = (min(left, right), max(left, right)) if symmetric else (left, right)
        row = f"row {number}: {shown(values[0].strip())}, {shown(values[1].strip())}"
        if positive is None:
            gold_file.unlabelled.append(row)
        else:
            _state(gold_file, pair, positive, row)
    return gold_file


def _position(name: str, ids: tuple[Ids, Ids], index: int, path: Path, row: int, column: str) -> int:
    position = ids[index].get(name)
    if position is not None:
        return position
    swapped = ids[1 - index].get(name) is not None
    hint = "it is an id of the other list: swap the two columns" if swapped else ""
    return ids[index].position(name, path, row, column, hint)  # raises


def _state(gold_file: _GoldFile, pair: tuple[int, int], positive: bool, row: str) -> None:
    if pair[0] == pair[1]:
        (gold_file.same_item if positive else gold_file.same_item_negative).append(row)
        return
    before = gold_file.pairs.setdefault(pair, positive)
    if before != positive:
        gold_file.contradicted.append(row)
        gold_file.pairs[pair] = True
    if not positive:
        gold_file.row_of_negative.setdefault(pair, row)


def _closed(gold_file: _GoldFile, path: Path) -> list[GoldPair]:
    positives = [pair for pair, positive in gold_file.pairs.items() if positive]
    negatives = [pair for pair, positive in gold_file.pairs.items() if not positive]
    n = 1 + max((right for _, right in gold_file.pairs), default=-1)
    component = graph.components(n, positives)
    parts = graph.joined_groups(component)
    _require_small(parts, path)
    pairs = [GoldPair(*pair, True, not gold_file.pairs.get(pair, False)) for pair in graph.closure(parts)]
    for pair in negatives:
        if component[pair[0]] == component[pair[1]]:
            gold_file.closed.append(gold_file.row_of_negative[pair])
        else:
            pairs.append(GoldPair(*pair, False))
    return pairs


def _require_small(parts: list[list[int]], path: Path) -> None:
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    total = int((sizes * (sizes - 1) // 2).sum())
    if total > MAX_CLOSURE:
        raise InputError(
            f"{path.name}: the transitive closure of the positives has {total:,} pairs, but the limit is "
            f"{MAX_CLOSURE:,}; the largest group has {sizes.max():,} items: look for wrong positives in it"
        )


def _notes(gold_file: _GoldFile, path: Path) -> list[str]:
    texts = (
        (gold_file.unlabelled, "pair", "without a label, left out"),
        (gold_file.same_item, "positive pair", "of an item with itself (identical texts), left out"),
        (
            gold_file.same_item_negative,
            "negative pair",
            "of an item with itself (identical texts): a conflict, left out",
        ),
        (gold_file.contradicted, "pair", "given as both positive and negative: a conflict, taken as positive"),
        (gold_file.closed, "negative pair", "implied to be positive by other positives: a conflict, taken as positive"),
    )
    return [
        f"{path.name}: {with_noun(len(odd), noun)} {comment} ({'; '.join(odd[:3])}{'; …' if len(odd) > 3 else ''})."
        for odd, noun, comment in texts
        if odd
    ]
