"""What groups look like: sizes, how many of their pairs match, their weakest links, their representatives."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from allpairs.db.groups.links import Links


@dataclass(frozen=True)
class Groups:
    """Groups of two or more of n texts; arrays with one entry for each group, in the same order.

    of: (n,) the group of each text, −1 for a text alone. size: its texts; pairs: how many pairs they make; matches: how
    many of these are links; score: the mean score of the links; weakest: the lowest score of the links that hold the
    group together if the strongest do it; NaN without links, where people joined it. central: its text with the most
    probable links in all.
    """

    of: np.ndarray
    size: np.ndarray
    pairs: np.ndarray
    matches: np.ndarray
    score: np.ndarray
    weakest: np.ndarray
    central: np.ndarray

    @property
    def coherence(self) -> np.ndarray:
        """The share of each group's pairs that are matches: 1 if all are, low in a chain."""
        return self.matches / self.pairs

    def texts(self, group: int) -> np.ndarray:
        """Return the texts of the group, ascending."""
        return np.flatnonzero(self.of == group)

    def largest_first(self) -> np.ndarray:
        """Return the groups by falling size, the less coherent of the same size first."""
        return np.lexsort((self.coherence, -self.size))

    def least_coherent_first(self) -> np.ndarray:
        """Return the groups by rising coherence, the larger ones of the same coherence first."""
        return np.lexsort((-self.size, self.coherence))

    def weakest_first(self) -> np.ndarray:
        """Return the groups by rising score of their weakest links, the larger ones of the same score first."""
        return np.lexsort((-self.size, self.weakest))


def described(links: Links, score: np.ndarray, group: np.ndarray) -> Groups:
    """Return the groups of two or more texts. links: the matches; score: (m,) of each; group: (n,) of each text."""
    of = _numbered(group)
    size = np.bincount(of[of >= 0])
    inner = (of[links.left] == of[links.right]) & (of[links.left] >= 0)
    left, right, held, p = links.left[inner], links.right[inner], score[inner].astype(np.float64), links.p[inner]
    where = of[left]
    matches = np.bincount(where, minlength=len(size))
    mean = np.bincount(where, weights=held, minlength=len(size)) / np.maximum(matches, 1)
    weakest = _weakest(left, right, held, where, links.n, len(size))
    mass = np.bincount(left, weights=p, minlength=links.n) + np.bincount(right, weights=p, minlength=links.n)
    return Groups(of, size, _pairs(of, size, links.second), matches, mean, weakest, best_text(of, mass))


def best_text(of: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the text of each group with the highest value, (k,) int64; of equal ones the first."""
    texts = np.flatnonzero(of >= 0)
    order = texts[np.lexsort((-value[texts], of[texts]))]
    return order[np.unique(of[order], return_index=True)[1]]


def longest_text(of: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Return the longest text of each group, (k,) int64."""
    return best_text(of, np.array([len(text) for text in texts], dtype=np.int64))


@dataclass(frozen=True)
class Changes:
    """How many groups of two or more become others: the same, divided, or only joined with other texts."""

    same: int
    divided: int
    joined: int


def changes(before: np.ndarray, after: np.ndarray) -> Changes:
    """Return what becomes of the groups; before, after: (n,) the group of each text."""
    of, then = _numbered(before), np.unique(after, return_inverse=True)[1].ravel()
    inside = of >= 0
    parts = np.unique(np.column_stack([of[inside], then[inside]]), axis=0)
    count = np.bincount(parts[:, 0], minlength=of.max(initial=-1) + 1)
    whole = parts[count[parts[:, 0]] == 1]
    same = np.bincount(of[inside])[whole[:, 0]] == np.bincount(then)[whole[:, 1]]
    return Changes(int(same.sum()), int((count > 1).sum()), int((~same).sum()))


def _numbered(group: np.ndarray) -> np.ndarray:
    """Return the number of each text's group, from 0, (n,) int64; −1 for a text alone."""
    codes = np.unique(group, return_inverse=True)[1].ravel()
    large = np.bincount(codes, minlength=1) > 1
    return np.where(large, np.cumsum(large) - 1, -1)[codes] if len(codes) else codes


def _pairs(of: np.ndarray, size: np.ndarray, second: np.ndarray | None) -> np.ndarray:
    if second is None:
        return size * (size - 1) // 2
    seconds = np.bincount(of[second & (of >= 0)], minlength=len(size))
    return seconds * (size - seconds)


def _weakest(
    left: np.ndarray, right: np.ndarray, score: np.ndarray, where: np.ndarray, n: int, groups: int
) -> np.ndarray:
    """Return the lowest score of the maximum spanning tree of each group, (groups,) float64."""
    found = np.full(groups, np.nan)
    if len(left):
        order = np.argsort(-score, kind="stable")
        left, right, where = left[order], right[order], where[order]
        place = np.arange(1.0, len(left) + 1)  # the strongest link first
        tree = minimum_spanning_tree(coo_array((place, (left, right)), shape=(n, n)).tocsr())
        holds = tree.data.astype(np.int64) - 1
        np.fmin.at(found, where[holds], score[order[holds]])
    return found
