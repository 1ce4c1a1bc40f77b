"""Audit labels in a file: pairs drawn for measuring, their labels, and how they were drawn."""

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import Ids, bad, label_of, present_columns, shown, with_noun
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.audit.sample import Sample
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, YES, Verdicts
from allpairs.learner.search.exact import count_pairs

NEEDED = ("id1", "id2", "label", "inclusion")
OPTIONAL = ("stratum", "size", "band")
OF_RATER = ("verdict", "read", "called")


@dataclass(frozen=True)
class AuditLabels:
    """Labelled pairs, each once: rows of the dataset (n,), label (n,) bool and inclusion probability (n,).

    stratum: (n,) int64, from 0, in the order of the file's numbers; sizes: (strata,) int64, all pairs of each; band:
    (strata,) int64, from 0: equal for the two strata of a divided band. verdicts: what a machine rater said, if one has
    read pairs.
    """

    left: np.ndarray
    right: np.ndarray
    positive: np.ndarray
    inclusion: np.ndarray
    stratum: np.ndarray
    sizes: np.ndarray
    band: np.ndarray
    verdicts: Verdicts | None = None

    def sample(self) -> Sample:
        """Return the labelled pairs as an audit's sample."""
        weight = 1 / self.inclusion
        return Sample(self.stratum, self.positive, weight, self.sizes, self.band, verdicts=self.verdicts)


def read_audit(path: Path, corpus: Corpus, dataset: Dataset) -> AuditLabels:
    """Read the audit labels of a file: the columns id1, id2, label, inclusion and, optionally, stratum, size and band,
    and with these three of a machine rater: verdict, read and called.

    Strata, and the bands that are one or two of them, are numbered from the highest score down. Without `stratum`,
    pairs with the same inclusion form a stratum, the largest inclusion first; without `size`, a stratum's size is
    estimated from its labels as Σ 1/inclusion (Horvitz and Thompson 1952); without `band`, each stratum is a band.
    `verdict` is 1 if a machine rater calls the pair positive, 0 if not, empty if it has not read it; `read` and
    `called` are how many random pairs of the stratum it has read and called positive, empty for none.
    A pair without a label was drawn all the same: it counts for its stratum, whose labels stand for it.
    Raises InputError with row and column, and if the strata have more pairs than there are.
    """
    reader = _AuditReader(path, corpus, dataset)
    named = column_names(path)
    stated = present_columns(OPTIONAL, named, path.name)
    rated = OF_RATER if present_columns(["verdict"], named, path.name) else ()
    if rated and "stratum" not in stated:
        raise InputError(f"{path.name}: verdicts are with_noun by stratum: add the column 'stratum'")
    columns = (*NEEDED, *stated, *rated)
    for number, values in read_rows(path, columns):
        reader.add(number, dict(zip(columns, map(str.strip, values), strict=True)))
    return reader.labels()


@dataclass
class _AuditReader:
    """Collects checked rows."""

    path: Path
    corpus: Corpus
    dataset: Dataset
    pairs: dict[tuple[int, int], int] = field(default_factory=dict)  # pair -> row of the file
    positive: list[bool | None] = field(default_factory=list)  # None: not labelled
    inclusion: list[float] = field(default_factory=list)
    stratum: list[float] = field(default_factory=list)
    sizes: dict[float, int] = field(default_factory=dict)  # stratum -> size
    bands: dict[float, int] = field(default_factory=dict)  # stratum -> band
    verdicts: list[int] = field(default_factory=list)
    read: dict[float, int] = field(default_factory=dict)  # stratum -> pairs that the rater has read
    called: dict[float, int] = field(default_factory=dict)  # stratum -> those that it calls positive

    def __post_init__(self) -> None:
        left = Ids(self.corpus.positions(Side.LEFT))
        right = left if self.corpus.kind == Kind.SYMMETRIC else Ids(self.corpus.positions(Side.RIGHT))
        self.known = left, right
        self.allowed = set(self.dataset.evaluation_left.tolist()), set(self.dataset.evaluation_right.tolist())

    def add(self, row: int, values: dict[str, str]) -> None:
        self._add_pair(row, values)
        inclusion = self._number(values["inclusion"], row, "inclusion")
        if not 0 < inclusion <= 1:
            problem = f"{shown(values['inclusion'])} is not a probability above 0 and up to 1; write the probability of"
            raise bad(f"{problem} drawing the pair", self.path, row, "inclusion")
        self.positive.append(label_of(values["label"], self.path, row))
        self.inclusion.append(inclusion)
        stratum = self._number(values["stratum"], row, "stratum") if "stratum" in values else -inclusion
        self.stratum.append(stratum)
        if "size" in values:
            self._add_of_stratum(self.sizes, row, stratum, "size", values["size"])
        if "band" in values:
            self._add_of_stratum(self.bands, row, stratum, "band", values["band"])
        if "verdict" in values:
            self._add_verdict(row, stratum, values)

    def _add_verdict(self, row: int, stratum: float, values: dict[str, str]) -> None:
        verdict = label_of(values["verdict"], self.path, row, "verdict")
        self.verdicts.append(UNREAD if verdict is None else YES if verdict else NO)
        for counts, column in ((self.read, "read"), (self.called, "called")):
            self._add_of_stratum(counts, row, stratum, column, values[column] or "0", least=0)
        if self.called[stratum] > self.read[stratum]:
            problem = f"{self.called[stratum]:,} pairs are called positive, but {self.read[stratum]:,} were read"
            raise bad(problem, self.path, row, "called")

    def labels(self) -> AuditLabels:
        left, right = np.array(list(self.pairs), dtype=np.int64).T
        inclusion = np.array(self.inclusion)
        names, stratum = np.unique(self.stratum, return_inverse=True)
        known = np.array([positive is not None for positive in self.positive])
        labelled = np.bincount(stratum[known], minlength=len(names))
        stated = [self.sizes.get(name) for name in names.tolist()]
        derived = np.bincount(stratum, 1 / inclusion).round().astype(int).tolist()
        sizes = np.array([size or estimate for size, estimate in zip(stated, derived, strict=True)], dtype=np.int64)
        for name, size, labels in zip(names.tolist(), sizes.tolist(), labelled.tolist(), strict=True):
            if labels > size:
                problem = f"stratum {name:g} has {with_noun(size, 'pair')} and {labels:,} of them are labelled"
                raise InputError(f"{self.path.name}: {problem}: correct the column 'size'")
        self._check_sum(int(sizes.sum()))
        band = self._band(names.tolist())
        verdicts = self._verdicts(names.tolist(), known)
        inclusion *= (labelled / np.bincount(stratum))[stratum]  # of being drawn, and labelled
        positive = np.array(self.positive)[known].astype(bool)
        stratum = stratum[known].astype(np.int64)
        return AuditLabels(left[known], right[known], positive, inclusion[known], stratum, sizes, band, verdicts)

    def _verdicts(self, strata: list[float], known: np.ndarray) -> Verdicts | None:
        """Return the rater's verdicts, if the file has them."""
        if not any(self.read.values()):
            return None
        read, called = (
            np.array([counts[name] for name in strata], dtype=np.int64) for counts in (self.read, self.called)
        )
        return Verdicts(np.array(self.verdicts, dtype=np.int64)[known], read, called)

    def _band(self, strata: list[float]) -> np.ndarray:
        """Return the band of each stratum, (strata,) int64 from 0."""
        stated = [self.bands[stratum] for stratum in strata] if self.bands else list(range(len(strata)))
        for stratum, band in zip(strata, stated, strict=True):
            if stated != sorted(stated) or stated.count(band) > 2:
                problem = f"stratum {stratum:g} is in band {band}, but bands are one or two strata, in their order"
                raise InputError(f"{self.path.name}: {problem}: correct the column 'band'")
        return np.unique(stated, return_inverse=True)[1].astype(np.int64)

    def _check_sum(self, pairs: int) -> None:
        total = count_pairs(
            len(self.dataset.evaluation_left), len(self.dataset.evaluation_right), self.dataset.symmetric
        )
        if pairs > total:
            problem = f"the strata have {with_noun(pairs, 'pair')}, but there are only {total:,}"
            raise InputError(f"{self.path.name}: {problem}: use the labels of one design, with the same items")

    def _add_pair(self, row: int, values: dict[str, str]) -> None:
        left, right = (self._item(row, side, values[("id1", "id2")[side]]) for side in (0, 1))
        if left == right:
            raise bad("both ids name the same text; remove the row", self.path, row, "id2")
        ordered = (min(left, right), max(left, right)) if self.dataset.symmetric else (left, right)
        before = self.pairs.setdefault(ordered, row)
        if before != row:
            raise bad(f"the pair is in row {before} already; keep one of the two", self.path, row, "id2")

    def _item(self, row: int, side: int, name: str) -> int:
        column = ("id1", "id2")[side]
        item = self.known[side].position(name, self.path, row, column)
        if item not in self.allowed[side]:
            problem = f"{shown(name)} is not an evaluation item; label pairs of evaluation items, or change --split"
            raise bad(problem, self.path, row, column)
        return item

    def _add_of_stratum(
        self, known: dict[float, int], row: int, stratum: float, column: str, value: str, least: int = 1
    ) -> None:
        """Note a whole number of the stratum, such as its size, which is the same in each of its rows."""
        number = self._number(value, row, column)
        if number < least or not number.is_integer():
            problem = f"{shown(value)} is no {column}; write a whole number"
            raise bad(f"{problem} above 0" if least else problem, self.path, row, column)
        before = known.setdefault(stratum, int(number))
        if before != number:
            problem = (
                f"the stratum's {column} is {before:,} in another row and {int(number):,} here; write one {column}"
            )
            raise bad(problem, self.path, row, column)

    def _number(self, value: str, row: int, column: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise bad(f"{shown(value)} is not a number; write one", self.path, row, column)
        return number
