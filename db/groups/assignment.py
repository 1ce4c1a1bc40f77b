"""Groups of two lists in which a text of the second has one partner at most, or one of both."""

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from allpairs.db.groups.links import Links


def best_links(links: Links) -> np.ndarray:
    """Return which links to keep, (m,) bool: of each text of the second list the best, of equal ones the first."""
    order = np.lexsort((np.arange(len(links.p)), -links.p))
    kept = np.zeros(len(links.p), dtype=bool)
    kept[order[np.unique(_second_of(links)[order], return_index=True)[1]]] = True
    return kept


def optimal_assignment(links: Links, least: float) -> np.ndarray:
    """Return which links to keep, (m,) bool: no two share a text, and the sum of p − least over them is the highest.

    Source: Karp (1980), as in `scipy.sparse.csgraph`.
    """
    kept = np.zeros(len(links.p), dtype=bool)
    if not len(links.p):
        return kept
    second = _second_of(links)
    first = np.where(second == links.left, links.right, links.left)
    rows, row = np.unique(first, return_inverse=True)
    columns, column = np.unique(second, return_inverse=True)
    # Every row also has a column of its own that stands for no partner, so that all rows can be assigned.
    alone, tiny = len(columns) + np.arange(len(rows)), 1e-9
    gain = np.concatenate([links.p - least + 2 * tiny, np.full(len(rows), tiny)])
    table = coo_array(
        (gain, (np.concatenate([row, np.arange(len(rows))]), np.concatenate([column, alone]))),
        shape=(len(rows), len(columns) + len(rows)),
    ).tocsr()
    _, partner = min_weight_full_bipartite_matching(table, maximize=True)
    kept[partner[row] == column] = True
    return kept


def _second_of(links: Links) -> np.ndarray:
    """Return the text of the second list of each link."""
    assert links.second is not None  # callers refuse one list
    return np.where(links.second[links.right], links.right, links.left)
