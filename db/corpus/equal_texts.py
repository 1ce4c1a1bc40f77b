"""Equal texts: several ids of one list that name one text, and texts that both lists have.

Models compare texts, but tables name ids. Every table of pairs of ids is made here, so that no id is lost.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations, product
from typing import Any, NamedTuple

import numpy as np

from allpairs.db.identity import identity

# Pairs of ids of one pair of texts; of more, each id stands once, beside the first id of the other text.
MOST_ID_PAIRS = 100
# why a pair is a match
MODEL = "model"
EQUAL = "equal"
KNOWN = "known"

Ids = Sequence[Sequence[Any]] | Mapping[int, Sequence[Any]]  # of each text


class IdPairs(NamedTuple):
    """Pairs of ids; text_pair: (m,) int64, which of the pairs of texts each belongs to."""

    text_pair: np.ndarray
    first: list[Any]
    second: list[Any]


def pairs_of_ids(ids: Ids, left: Sequence[int], right: Sequence[int]) -> IdPairs:
    """Return the pairs of ids that these pairs of texts stand for, as `id_pairs`."""
    parts = [
        (number, *pair)
        for number, (left_text, right_text) in enumerate(zip(left, right, strict=True))
        for pair in id_pairs(ids, left_text, right_text)
    ]
    numbers, first, second = map(list, zip(*parts, strict=True)) if parts else ([], [], [])
    return IdPairs(np.array(numbers, dtype=np.int64), first, second)


def id_pairs(ids: Ids, left: int, right: int) -> Iterator[tuple[Any, Any]]:
    """Return the pairs of ids that a pair of texts stands for; a text with itself stands for those of its ids."""
    return _within(ids[left]) if left == right else _between(ids[left], ids[right])


def _between(first: Sequence[Any], second: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    if len(first) * len(second) <= MOST_ID_PAIRS:
        return product(first, second)
    return chain(product(first[:1], second), product(first[1:], second[:1]))


def _within(ids: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    if len(ids) * (len(ids) - 1) // 2 <= MOST_ID_PAIRS:
        return combinations(ids, 2)
    return product(ids[:1], ids[1:])


def omitted_pairs(ids: Ids, left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many pairs of ids of these pairs of texts `pairs_of_ids` leaves out, because they are many."""
    counts = (
        (len(ids[left_text]), 0 if left_text == right_text else len(ids[right_text]))
        for left_text, right_text in zip(left, right, strict=True)
    )
    return sum(_beyond(*count) for count in counts)


def _beyond(first: int, second: int) -> int:
    total, few = (first * second, first + second - 1) if second else (first * (first - 1) // 2, first - 1)
    return total - few if total > MOST_ID_PAIRS else 0


def without_denied(equal: np.ndarray, no: np.ndarray, n: int) -> np.ndarray:
    """Return the pairs (k, 2) of equal texts that are not among those answered with no, (j, 2), of n texts."""
    not_denied: np.ndarray = equal[~np.isin(equal[:, 0] * n + equal[:, 1], no[:, 0] * n + no[:, 1])]
    return not_denied


def same_texts(first: Sequence[str], second: Sequence[str], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return which pairs of texts, by their places in the first and the second ones, are equal, (n,) bool."""
    numbers: dict[str, int] = {}
    first_numbers, second_numbers = (
        np.array([numbers.setdefault(identity(text), len(numbers)) for text in texts], dtype=np.int64)
        for texts in (first, second)
    )
    same: np.ndarray = first_numbers[left] == second_numbers[right]
    return same


def further_ids(ids: Sequence[str]) -> str:
    """Return the ids of a text after its first one as JSON, for tables with one row for each text; "" for none."""
    return json.dumps(list(ids[1:]), ensure_ascii=False) if len(ids) > 1 else ""
