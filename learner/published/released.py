"""A published data set in Allpairs' terms, and the files it is converted to."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.cells import with_noun
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.domain import Side, Split
from allpairs.db.errors import InputError
from allpairs.db.identity import identity

PARTS = ("train", "dev", "test")
SHARES = (0.5, 0.25, 0.25)  # of the components, where no split is published (Mussmann, Jia and Liang 2020, code)
FILES = ("left.csv", "right.csv", "gold.csv", "split.csv", "split-dev.csv", "labels.csv")


class Titles(StrEnum):
    """Whether a title precedes each sentence of WikiQA."""

    AUTO = "auto"  # if every row has one
    ALWAYS = "always"  # wherever there is one
    NEVER = "never"


class Text(NamedTuple):
    """A text with its id."""

    id: str
    text: str


class GivenPair(NamedTuple):
    """A pair given in the data set, by ids; label 1 or 0."""

    id1: str
    id2: str
    label: int


class Table(NamedTuple):
    """A table: the names of its columns, and its rows."""

    header: Sequence[str]
    rows: Sequence[Sequence[str | int]]


@dataclass(frozen=True)
class Options:
    """Options of a reader: the seed of a drawn split, and how to treat WikiQA's titles."""

    seed: int = 0
    titles: Titles = Titles.AUTO


@dataclass(frozen=True)
class Released:
    """Texts (right: None for one list), the known pairs, and the part of each left id.

    conflicts: given negatives that other known pairs imply to be positive, left out of `gold`. titles: whether a title
    precedes each right text; None where there are none to precede it. labels: pairs to train on, where the published
    split is one of pairs.
    """

    name: str
    left: list[Text]
    right: list[Text] | None
    gold: list[GivenPair]
    parts: dict[str, str]
    conflicts: int = 0
    notes: list[str] = field(default_factory=list)
    titles: bool | None = None
    labels: list[GivenPair] = field(default_factory=list)

    @property
    def present(self) -> list[str]:
        """The parts that there are, train first."""
        here = set(self.parts.values())
        return [part for part in PARTS if part in here]


Reader = Callable[[Path, Options], Released]


def draw_parts(texts: Sequence[str], pairs: Iterable[tuple[int, int]], rng: np.random.Generator) -> list[str]:
    """Draw the part of each text; components of the pairs, and of equal texts, stay together (.5, .25, .25)."""
    first: dict[str, int] = {}
    same = [(first.setdefault(identity(text), i), i) for i, text in enumerate(texts)]
    _, which = np.unique(graph.components(len(texts), chain(same, pairs)), return_inverse=True)
    drawn = rng.choice(len(PARTS), size=which.max() + 1, p=SHARES)
    return [PARTS[part] for part in drawn[which]]


def without_conflicts(
    texts: Sequence[str], pairs: dict[tuple[int, int], int]
) -> tuple[dict[tuple[int, int], int], int]:
    """Return the pairs (of positions) without negatives that positives imply to be positive, and the number of these.

    Equal texts count as one, so a negative of two equal texts is dropped too. Closure wins, as in the test labels of
    Mussmann, Jia and Liang (2020).
    """
    first: dict[str, int] = {}
    same = [(first.setdefault(identity(text), i), i) for i, text in enumerate(texts)]
    positives = (pair for pair, label in pairs.items() if label)
    component = graph.components(len(texts), chain(same, positives))
    kept = {(i, j): label for (i, j), label in pairs.items() if label or component[i] != component[j]}
    return kept, len(pairs) - len(kept)


def evaluated_part(released: Released, wanted: str | None) -> str:
    """Return the part to measure on: the wanted one, else the last there is. Raises InputError if it does not exist."""
    others = [part for part in released.present if part != "train"]
    if not others:
        raise InputError(f"{released.name}: there is no part to measure on; it has {', '.join(released.present)}")
    if wanted is not None and wanted not in others:
        raise InputError(f"{released.name}: there is no part {wanted!r} to measure on: use {' or '.join(others)}")
    return wanted or others[-1]


def write_released(released: Released, evaluated: str, folder: Path) -> list[str]:
    """Write left.csv, right.csv (two lists), gold.csv and split.csv to the folder; return notes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in FILES:
        (folder / old).unlink(missing_ok=True)
    tables, notes = tables_of(released, evaluated)
    for name, table in tables.items():
        write_table(table, folder / f"{name}.csv")
    return notes


def tables_of(released: Released, evaluated: str) -> tuple[dict[str, Table], list[str]]:
    """Return the tables left, right (two lists), gold and split, and notes.

    Items of the part `train` train, those of the evaluated one measure, others are not used. Where `test` is evaluated
    and there is a part `dev`, the table split-dev measures that instead: the development set of an experiment.
    """
    parts, moved = _one_part_each(released)
    tables = {"left": Table(Text._fields, released.left)}
    if released.right is not None:
        tables["right"] = Table(Text._fields, released.right)
    tables["gold"] = Table(GivenPair._fields, released.gold)
    tables["split"] = _split(parts, evaluated)
    if evaluated == "test" and "dev" in released.present:
        tables["split-dev"] = _split(parts, "dev")
    if released.labels:
        tables["labels"] = Table(GivenPair._fields, released.labels)
    what = "is in two parts, and measures" if moved == 1 else "are in two parts, and measure"
    return tables, [f"{with_noun(moved, 'text')} {what} only."] if moved else []


def _split(parts: Mapping[str, str], evaluated: str) -> Table:
    splits = {"train": Split.TRAIN, evaluated: Split.EVALUATION}
    rows = [(name, Side.LEFT, splits[part]) for name, part in parts.items() if part in splits]
    return Table(("id", "side", "split"), rows)


def write_table(table: Table, path: Path) -> None:
    """Write the header and the rows as CSV."""
    write_csv(path, table.header, table.rows)


def _one_part_each(released: Released) -> tuple[dict[str, str], int]:
    """Return the parts with equal texts in one part, the last of PARTS, and how many texts were in two."""
    latest: dict[str, str] = {}
    mixed: set[str] = set()
    for name, text in released.left:
        key = identity(text)
        part = released.parts[name]
        before = latest.setdefault(key, part)
        if before != part:
            mixed.add(key)
            latest[key] = max(before, part, key=PARTS.index)
    return {name: latest[identity(text)] for name, text in released.left}, len(mixed)
