"""A column by which the newest text of a group is found: one reading of all its values, and their order."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.field_values import ColumnFormat, Evidence, evidence_of, is_missing, moment_of, number_of
from allpairs.db.identity import identity

DIGITS = re.compile(r"(\d+)")
LETTERS = re.compile(r"[^\W\d_]+")
ReadValue = Callable[[str, ColumnFormat], float | None]


@dataclass(frozen=True)
class Order:
    """The rank of each text by its value in a column, (n,) float64, NaN without one; and what to tell people of it."""

    rank: np.ndarray
    note: str = ""


NO_ORDER = Order(np.empty(0))


def order_by(name: str, values: Sequence[str], second: np.ndarray | None = None) -> Order:
    """Return the order of a column's values: as numbers or as dates if most are, else as words, 9 before 10.

    values: of each text, "" for none. second: (n,) which texts are of the second list, whose column may be written in
    another way. A value that cannot be read as most can counts as missing.
    """
    lists = [np.arange(len(values))] if second is None else [np.flatnonzero(~second), np.flatnonzero(second)]
    sides = [{row: values[row] for row in rows.tolist() if values[row].strip()} for rows in lists]
    evidences = [evidence_of(side.values()) for side in sides]
    filled = sum(not is_missing(identity(value)) for side in sides for value in side.values())
    numbers, dates = (_read(sides, evidences, len(values), read) for read in (_amount_of, moment_of))
    counts = [int((~np.isnan(rank)).sum()) for rank in (numbers, dates)]
    if 2 * max(counts) <= filled:
        return Order(_words(values))
    kind, rank = ("numbers", numbers) if counts[0] >= counts[1] else ("dates", dates)
    return Order(rank, _note(name, kind, values, rank, evidences))


def _read(sides: Sequence[dict[int, str]], evidences: Sequence[Evidence], n: int, read: ReadValue) -> np.ndarray:
    rank = np.full(n, np.nan)
    for side, evidence in zip(sides, evidences, strict=True):
        reading = evidence.reading(ColumnFormat())
        for row, value in side.items():
            number = read(value, reading)
            rank[row] = np.nan if number is None else number
    return rank


def _amount_of(value: str, reading: ColumnFormat) -> float | None:
    """Return the number in a value that is little else: of a sentence with a number in it, there is none."""
    return number_of(value, reading) if len(LETTERS.findall(value)) <= 1 else None


def _words(values: Sequence[str]) -> np.ndarray:
    """Return the rank of words in their order, with the numbers in them by their value."""
    words = [identity(value).casefold() for value in values]
    keys = [[int(part) if part.isdecimal() else part for part in DIGITS.split(word)] for word in words]
    distinct = {word: key for word, key in zip(words, keys, strict=True) if not is_missing(word)}
    rank = {word: float(place) for place, word in enumerate(sorted(distinct, key=distinct.__getitem__))}
    return np.array([rank.get(word, np.nan) for word in words], dtype=np.float64)


def _note(name: str, kind: str, values: Sequence[str], rank: np.ndarray, evidences: Sequence[Evidence]) -> str:
    unread = [values[row] for row in np.flatnonzero(np.isnan(rank)).tolist() if values[row].strip()]
    parts = []
    if unread:
        subject = "value is" if len(unread) == 1 else "values are"
        parts.append(f"{len(unread):,} {subject} not among them and counted as missing, such as {shown(min(unread))}")
    if kind == "dates":
        parts += sorted({evidence.assumed for evidence in evidences} - {""})
    return f"Column {shown(name)} was read as {kind}; {'; '.join(parts)}." if parts else ""
