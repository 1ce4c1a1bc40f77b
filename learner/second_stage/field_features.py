"""Features of two records, column by column; a value that is missing in either says nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from allpairs.db.corpus.field_values import day_of, number_of
from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field
from allpairs.learner.second_stage.contact_values import (
    EXTENSION,
    email_domain,
    email_mailbox,
    house_numbers,
    organisation_words,
    phone_digits,
    street_words,
)

MOST_APART = 2.0  # of two numbers' logarithms: a larger ratio tells no more
SIGNS = re.compile(r"[\W_]+")  # are no part of a code
PERCENT = 100.0
LOCAL = 7  # digits of a phone number that are enough, whatever stands before them in the other one

Kinds = Mapping[str, FieldKind]  # of the columns that are compared, by name
Parse = Callable[[str], object]


class Measure(NamedTuple):
    """What is compared of two values.

    sign: whether it may speak for a match (+1) or against one (-1). parse: returns a value in the form that is
    compared: a number, or a text or set that is empty if the value says nothing. compare: takes such forms of pairs,
    (n,) and (n,), and returns (n,) figures.
    """

    sign: int
    parse: Parse
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray]


def field_features(kinds: Kinds) -> dict[str, tuple[int, str]]:
    """Return the features of these columns: whether each may speak for a match, and its column."""
    return {
        f"{name}: {title}": (measure.sign, name)
        for name, kind in kinds.items()
        for title, measure in MEASURES[kind].items()
    }


class FieldFeatures:
    """The features of any pairs of a dataset's texts, by the columns that a second stage compares."""

    def __init__(self, fields: Sequence[Field], kinds: Kinds) -> None:
        self.kinds = kinds
        self._fields = {field.name: field.values for field in fields}
        self._parsed = dict[tuple[str, Parse], np.ndarray]()

    def values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the features of pairs of rows, (n, features) float32 in the order of `field_features`.

        NaN where a text has no value, and in columns that the dataset does not have.
        """
        columns = [
            self._figures(name, measure, left, right)
            for name, kind in self.kinds.items()
            for measure in MEASURES[kind].values()
        ]
        return np.array(columns, dtype=np.float32).reshape(len(columns), len(left)).T

    def _figures(self, name: str, measure: Measure, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        figures = np.full(len(left), np.nan)
        if name in self._fields:
            values = self._values(name, measure.parse)
            known = values.astype(bool) if values.dtype == object else ~np.isnan(values)
            rows = np.flatnonzero(known[left] & known[right])
            figures[rows] = measure.compare(values[left[rows]], values[right[rows]])
        return figures

    def _values(self, name: str, parse: Parse) -> np.ndarray:
        """Return the values of a column, (texts,), in the form that is compared."""
        if (name, parse) not in self._parsed:
            parsed = list(map(parse, self._fields[name]))
            are_numbers = all(value is None or isinstance(value, float | int) for value in parsed)
            self._parsed[name, parse] = np.array(parsed, dtype=np.float64 if are_numbers else object)  # None: NaN
        return self._parsed[name, parse]


def _words(value: str) -> str:
    return " ".join(value.casefold().split())


def _code(value: str) -> str:
    return SIGNS.sub("", value.casefold())


def _contained(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return how much of the shorter value is in the longer one, 0 to 1, (n,)."""
    return process.cpdist(left, right, scorer=fuzz.partial_ratio, dtype=np.float32) / PERCENT


def _similar(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the share of letters that two values have in common in their order, 0 to 1, (n,)."""
    return process.cpdist(left, right, scorer=fuzz.ratio, dtype=np.float32) / PERCENT


def _same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return 1 where two values are the same, else 0, (n,)."""
    return left == right


def _same_number(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return how much two phone numbers are the same, 1 if one is the other without codes of area or country, (n,)."""
    similarity = process.cpdist(left, right, scorer=Levenshtein.normalized_similarity, dtype=np.float64)
    ends = [_ends_alike(*pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
    return np.where(np.array(ends, dtype=bool), 1.0, similarity)


def _ends_alike(left: str, right: str) -> bool:
    """Return whether one number is the end of the other; the extension counts where both have one."""
    if (EXTENSION in left) != (EXTENSION in right):
        left, right = (number.partition(EXTENSION)[0] for number in (left, right))
    shorter, longer = sorted((left, right), key=len)
    return len(shorter.partition(EXTENSION)[0]) >= LOCAL and longer.endswith(shorter)


def _overlap(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the share of two sets' members that they share, 0 to 1, as Dice (1945) counts it, (n,)."""
    pairs = zip(left.tolist(), right.tolist(), strict=True)
    return np.array([2 * len(first & second) / (len(first) + len(second)) for first, second in pairs])


def _apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the difference of two numbers' logarithms, at most 2 and also 2 for signs that differ, (n,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = np.abs(np.log(np.abs(left)) - np.log(np.abs(right)))
    difference = np.where(np.sign(left) == np.sign(right), np.minimum(difference, MOST_APART), MOST_APART)
    return np.where(left == right, 0.0, difference)


def _days_apart(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.log1p(np.abs(left - right))


_APART = Measure(-1, number_of, _apart)
# What is compared of each kind of column.
MEASURES: dict[FieldKind, dict[str, Measure]] = {
    FieldKind.TEXT: {"alike": Measure(1, _words, _contained)},
    FieldKind.NAME: {"alike": Measure(1, _words, _contained)},
    FieldKind.ORGANISATION: {"alike": Measure(1, organisation_words, _contained)},
    FieldKind.ADDRESS: {"street": Measure(1, street_words, _contained), "number": Measure(1, house_numbers, _overlap)},
    FieldKind.EMAIL: {"mailbox": Measure(1, email_mailbox, _similar), "domain": Measure(1, email_domain, _same)},
    FieldKind.PHONE: {"same": Measure(1, phone_digits, _same_number)},
    FieldKind.CODE: {"same": Measure(1, _code, _same)},
    FieldKind.NUMBER: {"same": Measure(1, number_of, _same), "apart": _APART},
    FieldKind.PRICE: {"apart": _APART},
    FieldKind.DATE: {"days": Measure(-1, day_of, _days_apart)},
}
