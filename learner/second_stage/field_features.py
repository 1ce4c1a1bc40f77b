"""Features of two records, column by column; a value that is missing in either says nothing."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from allpairs.db.corpus.field_values import day_of, number_of
from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field
from allpairs.learner.second_stage.agreement import DAYS, LIKENESS, RATIO, ColumnAgreement
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
AGREEMENT = "agreement"  # the feature of all columns together
CONSTANT = "constant"  # the part of a score that no text has a share in


class Measure(NamedTuple):
    """What is compared of two values.

    parse: returns a value in the form that is compared: a number, or a text or set that is empty if the value says
    nothing. compare: takes such forms of pairs, (n,) and (n,), and returns (n,) figures. distance: the ends of their
    levels, from 0, if they are distances; else they are likenesses.
    """

    parse: Parse
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray]
    distance: tuple[float, ...] = ()

    @property
    def sign(self) -> int:
        """Whether it may speak for a match (1) or against one (-1)."""
        return -1 if self.distance else 1

    @property
    def cuts(self) -> tuple[float, ...]:
        """The cuts between its levels, ascending, as an `ColumnAgreement` has them."""
        return tuple(-end for end in reversed(self.distance)) or LIKENESS


def field_features(kinds: Kinds) -> dict[str, tuple[int, str]]:
    """Return the features of these columns: whether each may speak for a match, and the part it belongs to."""
    features = {name: (measure.sign, column) for name, (column, measure) in _measures(kinds).items()}
    return features | ({AGREEMENT: (1, CONSTANT)} if has_agreement(kinds) else {})


def has_agreement(kinds: Kinds) -> bool:
    """Return whether there are columns enough for an agreement to say more than one of them."""
    return len(kinds) > 1


def cuts_of(kinds: Kinds) -> dict[str, tuple[float, ...]]:
    """Return the cuts between the levels of each feature of these columns, but for their agreement."""
    return {name: measure.cuts for name, (_, measure) in _measures(kinds).items()}


def _measures(kinds: Kinds) -> dict[str, tuple[str, Measure]]:
    """Return the column and the measure of each feature."""
    return {
        f"{column}: {title}": (column, measure)
        for column, kind in kinds.items()
        for title, measure in MEASURES[kind].items()
    }


@dataclass(frozen=True)
class FieldFeatures:
    """The features of any pairs of a dataset's texts, by the columns that a second stage compares.

    agreement: of these columns, where there are several.
    """

    columns: Sequence[Field]
    kinds: Kinds
    agreement: ColumnAgreement | None = None
    _parsed: dict[tuple[str, Parse], np.ndarray] = field(default_factory=dict)

    def values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the features of pairs of rows, (n, features) float32 in the order of `field_features`.

        NaN where a text has no value, and in columns that the dataset does not have.
        """
        figures = self.figures(left, right)
        if self.agreement is None:
            return figures
        return np.column_stack([figures, self.agreement.logit(figures).astype(np.float32)])

    def figures(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the features of pairs of rows as `values` does, without the agreement."""
        columns = [self._figures(column, measure, left, right) for column, measure in _measures(self.kinds).values()]
        return np.array(columns, dtype=np.float32).reshape(len(columns), len(left)).T

    @cached_property
    def _texts(self) -> dict[str, Sequence[str]]:
        return {column.name: column.values for column in self.columns}

    def _figures(self, name: str, measure: Measure, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        figures = np.full(len(left), np.nan)
        if name in self._texts:
            values = self._values(name, measure.parse)
            known = values.astype(bool) if values.dtype == object else ~np.isnan(values)
            rows = np.flatnonzero(known[left] & known[right])
            figures[rows] = measure.compare(values[left[rows]], values[right[rows]])
        return figures

    def _values(self, name: str, parse: Parse) -> np.ndarray:
        """Return the values of a column, (texts,), in the form that is compared."""
        if (name, parse) not in self._parsed:
            parsed = list(map(parse, self._texts[name]))
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


def _same_words(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the share of letters that two values have in common whatever the order of their words, 0 to 1, (n,)."""
    return process.cpdist(left, right, scorer=fuzz.token_sort_ratio, dtype=np.float32) / PERCENT


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


_APART = Measure(number_of, _apart, RATIO)
# What is compared of each kind of column.
MEASURES: dict[FieldKind, dict[str, Measure]] = {
    FieldKind.TEXT: {"alike": Measure(_words, _same_words)},
    FieldKind.NAME: {"alike": Measure(_words, _contained)},
    FieldKind.ORGANISATION: {"alike": Measure(organisation_words, _contained)},
    FieldKind.ADDRESS: {"street": Measure(street_words, _contained), "number": Measure(house_numbers, _overlap)},
    FieldKind.EMAIL: {"mailbox": Measure(email_mailbox, _similar), "domain": Measure(email_domain, _same)},
    FieldKind.PHONE: {"same": Measure(phone_digits, _same_number)},
    FieldKind.CODE: {"same": Measure(_code, _same)},
    FieldKind.NUMBER: {"same": Measure(number_of, _same), "apart": _APART},
    FieldKind.PRICE: {"apart": _APART},
    FieldKind.DATE: {"days": Measure(day_of, _days_apart, DAYS)},
}
