"""A corpus: the items and gold pairs of a project, read from files and checked as a whole."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from db.corpus.cells import bad, counted, shown
from db.corpus.files import read_rows
from db.corpus.gold import GoldPair, read_gold
from db.domain import InputError, Kind, Side, Split

__all__ = ["Columns", "Corpus", "GoldPair", "Item", "identity", "load_corpus", "make_corpus", "read_items"]

MAX_ID = 500  # characters of an id
BETWEEN_TEXTS = " . "  # joins text columns as the WikiQA set-up of paper 004 joins title and sentence


@dataclass(frozen=True, slots=True)
class Item:
    """One text; identical texts of one side are one item with several ids."""

    ids: tuple[str, ...]
    side: Side
    text: str
    split: Split | None = None


@dataclass(frozen=True)
class Corpus:
    """Items (left ones first), gold pairs as positions in `items`, and what a person should know about the data."""

    kind: Kind
    items: list[Item]
    gold: list[GoldPair]
    notes: list[str] = field(default_factory=list)

    def positions(self, side: Side) -> dict[str, int]:
        """The position of the item of each id of one side."""
        return {name: i for i, item in enumerate(self.items) if item.side == side for name in item.ids}

    def count(self, side: Side) -> int:
        """The number of items of one side."""
        return sum(item.side == side for item in self.items)


class Columns(NamedTuple):
    """The columns of an item file."""

    id: str = "id"
    texts: tuple[str, ...] = ("text",)


def identity(text: str) -> str:
    """What identical texts have in common: the text in Unicode NFKC with white space folded."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def load_corpus(
    left: Path,
    right: Path | None = None,
    gold: Path | None = None,
    *,
    id_column: str = "id",
    text_columns: Sequence[str] = ("text",),
    right_columns: Columns | None = None,
    gold_columns: Sequence[str] = ("id1", "id2", "label"),
) -> Corpus:
    """The corpus in these files: bipartite where there is a right one; gold positives of one list are closed.

    The right file has the columns of the left one unless `right_columns` says otherwise. Raises InputError.
    """
    columns = Columns(id_column, tuple(text_columns))
    notes: list[str] = []
    items = read_items(left, Side.LEFT, columns, notes, at_least=2 if right is None else 1)
    others = read_items(right, Side.RIGHT, right_columns or columns, notes) if right is not None else None
    return make_corpus(items, others, gold, gold_columns, notes)


def make_corpus(
    left: list[Item], right: list[Item] | None, gold: Path | None, gold_columns: Sequence[str], notes: list[str]
) -> Corpus:
    """The corpus of items that were read, with the gold pairs of a file. Raises InputError."""
    corpus = Corpus(Kind.SYMMETRIC if right is None else Kind.BIPARTITE, left + (right or []), [], notes)
    if gold is not None:
        first = corpus.positions(Side.LEFT)
        known = first, first if right is None else corpus.positions(Side.RIGHT)
        corpus.gold.extend(read_gold(gold, known, right is None, gold_columns, notes))
    return corpus


class _Merger:
    """Collects the rows of one side; identical texts become one item."""

    def __init__(self, path: Path, columns: Columns) -> None:
        self.path = path
        self.columns = columns
        self.rows: dict[str, int] = {}  # id -> row
        self.places: dict[str, int] = {}  # identity of a text -> position in texts and ids
        self.texts: list[str] = []
        self.ids: list[list[str]] = []

    def add(self, row: int, name: str, text: str) -> None:
        key = identity(text)
        self._check(row, name, key)
        self.rows[name] = row
        place = self.places.setdefault(key, len(self.texts))
        if place == len(self.texts):
            self.texts.append(text)
            self.ids.append([])
        self.ids[place].append(name)

    def _check(self, row: int, name: str, key: str) -> None:
        if not name:
            raise bad("the id is empty; give every row an id", self.path, row, self.columns.id)
        if len(name) > MAX_ID:
            what = f"an id of {len(name):,} characters, and the limit is {MAX_ID}; shorten it"
            raise bad(what, self.path, row, self.columns.id)
        if not key:
            what = "the text is empty; fill it or remove the row"
            raise bad(what, self.path, row, " + ".join(self.columns.texts))
        if name in self.rows:
            text = "the same" if key in self.places and name in self.ids[self.places[key]] else "another"
            what = f"the id {shown(name)} is in row {self.rows[name]} already, with {text} text; ids must be unique"
            raise bad(what, self.path, row, self.columns.id)

    def note(self) -> str | None:
        """How many texts occur more than once, or nothing."""
        merged = [ids for ids in self.ids if len(ids) > 1]
        if not merged:
            return None
        first = " and ".join(shown(name) for name in merged[0][:2])
        return (
            f"{self.path.name}: {sum(map(len, merged)):,} rows share their text with another row and became "
            f"{counted(len(merged), 'item')} with several ids (first: {first})."
        )


def read_items(path: Path, side: Side, columns: Columns, notes: list[str], at_least: int = 1) -> list[Item]:
    """The items of one side, identical texts merged; adds to the notes how many.

    Raises InputError, also for fewer than `at_least` items.
    """
    if not columns.texts:
        raise InputError(f"{path.name}: no text column is chosen; name at least one")
    merger = _Merger(path, columns)
    for number, (name, *parts) in read_rows(path, (columns.id, *columns.texts)):
        text = BETWEEN_TEXTS.join(part for part in map(str.strip, parts) if part)
        merger.add(number, name.strip(), text)
    if (note := merger.note()) is not None:
        notes.append(note)
    if len(merger.texts) < at_least:
        raise InputError(
            f"{path.name}: {len(merger.texts)} distinct text makes no pair; add texts, at least {at_least}"
        )
    return [Item(tuple(ids), side, text) for ids, text in zip(merger.ids, merger.texts, strict=True)]
