"""Groups of two lists in which a text of the second has one partner at most, or one of both."""

import numpy as np

from allpairs.db.corpus import graph
from allpairs.learner.light.groups.links import Links

TINY = 1e-9  # what a link of p = least gains, so that it is better than none
BLOCK = 1_000  # links whose components are solved together; scipy takes time with the square of the texts


def best_links(links: Links) -> np.ndarray:
    """Return which links to keep, (m,) bool: of each text of the second list the best, of equal ones the first."""
    order = np.lexsort((np.arange(len(links.p)), -links.p))
    chosen = np.zeros(len(links.p), dtype=bool)
    chosen[order[np.unique(_second_of(links)[order], return_index=True)[1]]] = True
    return chosen


def optimal_assignment(links: Links, least: float) -> np.ndarray:
    """Return which links to keep, (m,) bool: no two share a text, and the sum of p − least over them is the highest.

    Source: Karp (1980), as in `scipy.sparse.csgraph`, for each connected component of the links that are not certain.
    """
    second = _second_of(links)
    first = np.where(second == links.left, links.right, links.left)
    gain = links.p - least + TINY
    chosen, left = _certain(first, second, gain)
    component = graph.components(links.n, np.column_stack([first[left], second[left]]))[first[left]]
    left = left[np.argsort(component, kind="stable")]
    starts = np.unique(np.sort(component), return_index=True)[1]
    ends = starts[np.flatnonzero(np.diff(starts // BLOCK)) + 1]
    for block in np.split(left, ends):
        chosen[block[_assigned(first[block], second[block], gain[block])]] = True
    return chosen


def _certain(first: np.ndarray, second: np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which links some best assignment keeps for certain, (m,) bool, and the positions of those left to decide.

    A link is certain that gains no less than the best other links of both its texts together.
    """
    chosen = np.zeros(len(gain), dtype=bool)
    left = np.arange(len(gain))
    while True:
        best_others = sum(_best_other(side[left], gain[left]) for side in (first, second))
        sure = left[gain[left] >= best_others]
        for side in (first, second):  # equal links of one text: the first
            sure = sure[np.unique(side[sure], return_index=True)[1]]
        if not len(sure):
            return chosen, left
        chosen[sure] = True
        left = left[~(np.isin(first[left], first[sure]) | np.isin(second[left], second[sure]))]


def _best_other(text: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return the highest gain of the other links of each link's text, (m,); 0 where there is none."""
    order = np.lexsort((-gain, text))
    text = text[order]
    gain = gain[order]
    top = np.diff(text, prepend=-1) != 0
    following = np.append(np.where(top, 0.0, gain)[1:], 0.0)
    best = np.empty(len(gain))
    best[order] = np.where(top, following, gain[np.maximum.accumulate(np.where(top, np.arange(len(gain)), 0))])
    return best


def _assigned(first: np.ndarray, second: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Return which links the best assignment keeps, (m,) bool."""
    from scipy.sparse import coo_array  # slow to import: see db/corpus/graph.py
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    if not len(gain):
        return np.zeros(0, dtype=bool)
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    # Every row also has a column of its own that stands for no partner, so that all rows can be assigned.
    dummies = len(columns) + np.arange(len(rows))
    weight = np.concatenate([gain + TINY, np.full(len(rows), TINY)])
    table = coo_array(
        (weight, (np.concatenate([row, np.arange(len(rows))]), np.concatenate([column, dummies]))),
        shape=(len(rows), len(columns) + len(rows)),
    ).tocsr()
    _, partner = min_weight_full_bipartite_matching(table, maximize=True)
    chosen: np.ndarray = partner[row] == column
    return chosen


def _second_of(links: Links) -> np.ndarray:
    """Return the text of the second list of each link."""
    assert links.second is not None  # callers refuse one list
    return np.where(links.second[links.right], links.right, links.left)
