"""A published data set in the product's terms, and the files that it becomes."""

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from db.corpus import graph
from db.corpus.cells import counted
from db.corpus.corpus import identity
from db.corpus.formula import guarded
from db.domain import Side, Split
from db.errors import InputError

PARTS = ("train", "dev", "test")
SHARES = (0.5, 0.25, 0.25)  # of the components, where no split is published (paper 004, released code)
FILES = ("left.csv", "right.csv", "gold.csv", "split.csv")


class Titles(StrEnum):
    """Whether a title stands before each sentence of WikiQA."""

    AUTO = "auto"  # if every row has one
    ALWAYS = "always"  # wherever there is one
    NEVER = "never"


class Text(NamedTuple):
    """A text with its id."""

    id: str
    text: str


class Stated(NamedTuple):
    """A pair that the data set states, by ids; label 1 or 0."""

    id1: str
    id2: str
    label: int


class Table(NamedTuple):
    """A table: the names of its columns, and its rows."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | int]]


@dataclass(frozen=True)
class Options:
    """What a reader may be told: the seed of a drawn split, and what to do with WikiQA's titles."""

    seed: int = 0
    titles: Titles = Titles.AUTO


@dataclass(frozen=True)
class Released:
    """Texts (right: None for one list), the pairs stated about them, and the part of each left id.

    conflicts: stated negatives that are positive by other statements, and are left out of `gold`.
    """

    name: str
    left: list[Text]
    right: list[Text] | None
    gold: list[Stated]
    parts: dict[str, str]
    conflicts: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def present(self) -> list[str]:
        """The parts that there are, train first."""
        here = set(self.parts.values())
        return [part for part in PARTS if part in here]


Reader = Callable[[Path, Options], Released]


def draw_parts(texts: Sequence[str], pairs: Iterable[tuple[int, int]], rng: np.random.Generator) -> list[str]:
    """The part of each text: each component of the pairs, and of equal texts, is drawn whole (.5, .25, .25)."""
    first: dict[str, int] = {}
    same = [(first.setdefault(identity(text), i), i) for i, text in enumerate(texts)]
    _, which = np.unique(graph.components(len(texts), chain(same, pairs)), return_inverse=True)
    drawn = rng.choice(len(PARTS), size=which.max() + 1, p=SHARES)
    return [PARTS[part] for part in drawn[which]]


def without_conflicts(
    texts: Sequence[str], pairs: dict[tuple[int, int], int]
) -> tuple[dict[tuple[int, int], int], int]:
    """The pairs (of positions) without the negatives that positives imply to be positive, and how many those were.

    Equal texts are one, so that a negative of two equal texts goes too. Closure wins (paper 004 takes its test labels
    so).
    """
    first: dict[str, int] = {}
    same = [(first.setdefault(identity(text), i), i) for i, text in enumerate(texts)]
    positives = (pair for pair, label in pairs.items() if label)
    component = graph.components(len(texts), chain(same, positives))
    kept = {(i, j): label for (i, j), label in pairs.items() if label or component[i] != component[j]}
    return kept, len(pairs) - len(kept)


def evaluated_part(released: Released, wanted: str | None) -> str:
    """The part that measures: the wanted one, else the last there is. Raises InputError where it is not there."""
    others = [part for part in released.present if part != "train"]
    if not others:
        raise InputError(f"{released.name}: there is no part to measure on; it has {', '.join(released.present)}")
    if wanted is not None and wanted not in others:
        raise InputError(f"{released.name}: there is no part {wanted!r} here to measure on: use {' or '.join(others)}")
    return wanted or others[-1]


def write_released(released: Released, evaluated: str, folder: Path) -> list[str]:
    """Notes; the folder holds left.csv, right.csv (two lists), gold.csv and split.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in FILES:
        (folder / old).unlink(missing_ok=True)
    tables, notes = tables_of(released, evaluated)
    for name, table in tables.items():
        write_table(table, folder / f"{name}.csv")
    return notes


def tables_of(released: Released, evaluated: str) -> tuple[dict[str, Table], list[str]]:
    """The tables left, right (two lists), gold and split, and notes.

    The part `train` trains, the evaluated one measures, another one takes no part.
    """
    parts, moved = _one_part_each(released)
    splits = {"train": Split.TRAIN, evaluated: Split.EVALUATION}
    rows = [(name, Side.LEFT, splits[part]) for name, part in parts.items() if part in splits]
    tables = {"left": Table(Text._fields, released.left)}
    if released.right is not None:
        tables["right"] = Table(Text._fields, released.right)
    tables["gold"] = Table(Stated._fields, released.gold)
    tables["split"] = Table(("id", "side", "split"), rows)
    what = "is in two parts, and measures" if moved == 1 else "are in two parts, and measure"
    return tables, [f"{counted(moved, 'text')} {what} only."] if moved else []


def write_table(table: Table, path: Path) -> None:
    """Nothing; the CSV file holds the header and the rows."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(table.header)
        writer.writerows(map(guarded, row) for row in table.rows)


def _one_part_each(released: Released) -> tuple[dict[str, str], int]:
    """The parts with equal texts in one part, the last of PARTS, and how many texts were in two."""
    latest: dict[str, str] = {}
    mixed: set[str] = set()
    for name, text in released.left:
        key, part = identity(text), released.parts[name]
        before = latest.setdefault(key, part)
        if before != part:
            mixed.add(key)
            latest[key] = max(before, part, key=PARTS.index)
    return {name: latest[identity(text)] for name, text in released.left}, len(mixed)
