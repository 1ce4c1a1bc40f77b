"""Connected components of pairs, and the transitive closure of positive pairs."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray


def components(n: int, pairs: NDArray[np.int64] | Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    """Return the component of each of n items, named by its smallest item: int64 (n,). pairs: (m, 2), or tuples."""
    from scipy.sparse import coo_array  # takes a third of a second to import, and no page needs it to start
    from scipy.sparse.csgraph import connected_components

    if not isinstance(pairs, np.ndarray):
        pairs = np.fromiter(pairs, dtype=(np.int64, 2)).reshape(-1, 2)
    left, right = pairs.T
    edges = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(n, n))
    _, component = connected_components(edges, directed=False)
    smallest = np.unique(component, return_index=True)[1]
    return smallest[component].astype(np.int64)


def joined_groups(component: NDArray[np.int64]) -> list[list[int]]:
    """Return the items of each component of two or more, in ascending order."""
    joined = np.flatnonzero(np.bincount(component)[component] > 1)  # most items are in no known pair
    order = joined[np.argsort(component[joined], kind="stable")]
    starts = np.flatnonzero(np.diff(component[order])) + 1
    return [part.tolist() for part in np.split(order, starts) if len(part)]


def closure(parts: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """Yield every pair (left < right) within each of the parts."""
    for part in parts:
        yield from combinations(part, 2)
