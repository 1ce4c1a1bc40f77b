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


class CsvTable(NamedTuple):
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
        present = set(self.parts.values())
        return [part for part in PARTS if part in present]


Reader = Callable[[Path, Options], Released]


def draw_parts(texts: Sequence[str], pairs: Iterable[tuple[int, int]], rng: np.random.Generator) -> list[str]:
    """Draw the part of each text; components of the pairs, and of equal texts, stay together (.5, .25, .25)."""
    first: dict[str, int] = {}
    same = [(first.setdefault(identity(text), i), i) for i, text in enumerate(texts)]
    _, component = np.unique(graph.components(len(texts), chain(same, pairs)), return_inverse=True)
    drawn = rng.choice(len(PARTS), size=component.max() + 1, p=SHARES)
    return [PARTS[part] for part in drawn[component]]


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
    consistent = {(i, j): label for (i, j), label in pairs.items() if label or component[i] != component[j]}
    return consistent, len(pairs) - len(consistent)


def evaluated_part(released: Released, part: str | None) -> str:
    """Return the part to measure on: the wanted one, else the last there is. Raises InputError if it does not exist."""
    candidates = [name for name in released.present if name != "train"]
    if not candidates:
        raise InputError(f"{released.name}: there is no part to measure on; it has {', '.join(released.present)}")
    if part is not None and part not in candidates:
        raise InputError(f"{released.name}: there is no part {part!r} to measure on: use {' or '.join(candidates)}")
    return part or candidates[-1]


def write_released(released: Released, evaluated: str, folder: Path) -> list[str]:
    """Write left.csv, right.csv (two lists), gold.csv and split.csv to the folder; return notes."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in FILES:
        (folder / old).unlink(missing_ok=True)
    tables, notes = tables_of(released, evaluated)
    for name, table in tables.items():
        write_csv_table(table, folder / f"{name}.csv")
    return notes


def tables_of(released: Released, evaluated: str) -> tuple[dict[str, CsvTable], list[str]]:
    """Return the tables left, right (two lists), gold and split, and notes.

    Items of the part `train` train, those of the evaluated one measure, others are not used. Where `test` is evaluated
    and there is a part `dev`, the table split-dev measures that instead: the development set of an experiment.
    """
    parts, moved = _one_part_each(released)
    tables = {"left": CsvTable(Text._fields, released.left)}
    if released.right is not None:
        tables["right"] = CsvTable(Text._fields, released.right)
    tables["gold"] = CsvTable(GivenPair._fields, released.gold)
    tables["split"] = _split(parts, evaluated)
    if evaluated == "test" and "dev" in released.present:
        tables["split-dev"] = _split(parts, "dev")
    if released.labels:
        tables["labels"] = CsvTable(GivenPair._fields, released.labels)
    verb = "is in two parts, and measures" if moved == 1 else "are in two parts, and measure"
    return tables, [f"{with_noun(moved, 'text')} {verb} only."] if moved else []


def _split(parts: Mapping[str, str], evaluated: str) -> CsvTable:
    splits = {"train": Split.TRAIN, evaluated: Split.EVALUATION}
    rows = [(name, Side.LEFT, splits[part]) for name, part in parts.items() if part in splits]
    return CsvTable(("id", "side", "split"), rows)


def write_csv_table(table: CsvTable, path: Path) -> None:
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
