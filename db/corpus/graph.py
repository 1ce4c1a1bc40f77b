"""Connected components of pairs, and the transitive closure of positive pairs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def components(n: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """The component of each of n items, named by its smallest item: int64 (n,)."""
    parent: dict[int, int] = {}  # of the items in pairs: most of a large corpus are in none
    for left, right in pairs:
        a, b = _root(parent, left), _root(parent, right)
        parent[max(a, b)] = min(a, b)
    component = np.arange(n, dtype=np.int64)
    for item in parent:
        component[item] = _root(parent, item)
    return component


def _root(parent: dict[int, int], item: int) -> int:
    while parent.setdefault(item, item) != item:
        parent[item] = parent[parent[item]]
        item = parent[item]
    return item


def groups(component: NDArray[np.int64]) -> list[list[int]]:
    """The items of each component of two or more, in ascending order."""
    joined = np.flatnonzero(np.bincount(component)[component] > 1)  # few of many: most items are in no known pair
    order = joined[np.argsort(component[joined], kind="stable")]
    starts = np.flatnonzero(np.diff(component[order])) + 1
    return [part.tolist() for part in np.split(order, starts) if len(part)]


def closure(parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Every pair (left < right) within each of the parts."""
    for part in parts:
        yield from combinations(part, 2)
