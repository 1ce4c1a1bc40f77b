"""Features of two records, column by column; a value that is missing in either says nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np
from rapidfuzz import fuzz, process

from allpairs.db.corpus.field_values import day_of, number_of
from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field

# What is compared of each kind of column, and whether it may speak for a match (+1) or against one (-1).
MEASURES: dict[FieldKind, dict[str, int]] = {
    FieldKind.TEXT: {"alike": 1},
    FieldKind.NAME: {"alike": 1},
    FieldKind.CODE: {"same": 1},
    FieldKind.NUMBER: {"same": 1, "apart": -1},
    FieldKind.PRICE: {"apart": -1},
    FieldKind.DATE: {"days": -1},
}
MOST_APART = 2.0  # of two numbers' logarithms: a larger ratio tells no more
SIGNS = re.compile(r"[\W_]+")  # are no part of a code
PERCENT = 100.0

Kinds = Mapping[str, FieldKind]  # of the columns that are compared, by name


def field_features(kinds: Kinds) -> dict[str, tuple[int, str]]:
    """Return the features of these columns: whether each may speak for a match, and its column."""
    return {
        f"{name}: {measure}": (sign, name) for name, kind in kinds.items() for measure, sign in MEASURES[kind].items()
    }


class FieldFeatures:
    """The features of any pairs of a dataset's texts, by the columns that a second stage compares."""

    def __init__(self, fields: Sequence[Field], kinds: Kinds) -> None:
        self.kinds = kinds
        self._fields = {field.name: field.values for field in fields}

    def values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the features of pairs of rows, (n, features) float32 in the order of `field_features`.

        NaN where a text has no value, and in columns that the dataset does not have.
        """
        columns = [
            self._compare(name, measure, left, right) for name, kind in self.kinds.items() for measure in MEASURES[kind]
        ]
        return np.array(columns, dtype=np.float32).reshape(len(columns), len(left)).T

    def _compare(self, name: str, measure: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        if name not in self._fields:
            return np.full(len(left), np.nan)
        if measure == "alike":
            return self._alike(name, left, right)
        values = self._parsed[name]
        return _MEASURED[measure](values[left], values[right])

    def _alike(self, name: str, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return how much of the shorter value is in the longer one, 0 to 1, (n,)."""
        values = self._parsed[name]
        similarity = process.cpdist(values[left], values[right], scorer=fuzz.partial_ratio, dtype=np.float32) / PERCENT
        lacking = np.array([not value for value in values])
        return np.where(lacking[left] | lacking[right], np.nan, similarity)

    @cached_property
    def _parsed(self) -> dict[str, np.ndarray]:
        """The values of each column, (texts,): words in lower case, codes without signs, numbers, days; else NaN."""
        return {name: _PARSED[kind](self._fields[name]) for name, kind in self.kinds.items() if name in self._fields}


def _words(values: Sequence[str]) -> np.ndarray:
    return np.array([" ".join(value.casefold().split()) for value in values], dtype=object)


def _codes(values: Sequence[str]) -> np.ndarray:
    return np.array([SIGNS.sub("", value.casefold()) or np.nan for value in values], dtype=object)


def _numbers(values: Sequence[str]) -> np.ndarray:
    return np.array([number_of(value) for value in values], dtype=np.float64)  # None becomes NaN


def _days(values: Sequence[str]) -> np.ndarray:
    return np.array([day_of(value) for value in values], dtype=np.float64)


def _same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return 1 where two values are the same, else 0, (n,)."""
    known = (left == left) & (right == right)  # NaN is not even equal to itself
    return np.where(known, left == right, np.nan)


def _apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the difference of two numbers' logarithms, at most 2 and also 2 for signs that differ, (n,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.abs(np.log(np.abs(left)) - np.log(np.abs(right)))
    difference = np.where(np.sign(left) == np.sign(right), np.minimum(difference, MOST_APART), MOST_APART)
    return np.where(np.isnan(left) | np.isnan(right), np.nan, np.where(left == right, 0.0, difference))


def _days_apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.log1p(np.abs(left - right))


_PARSED: dict[FieldKind, Callable[[Sequence[str]], np.ndarray]] = {
    FieldKind.TEXT: _words,
    FieldKind.NAME: _words,
    FieldKind.CODE: _codes,
    FieldKind.NUMBER: _numbers,
    FieldKind.PRICE: _numbers,
    FieldKind.DATE: _days,
}
_MEASURED: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "same": _same,
    "apart": _apart,
    "days": _days_apart,
}
