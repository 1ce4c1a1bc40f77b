"""Agglomerative clustering of sparse links, in rounds: all groups that are each other's best partner join at once.

For linkages that are reducible (max, mean) the groups are those of joining one best pair after the other; Murtagh
(1983) shows it for nearest-neighbour chains. For the sum they are a local optimum of correlation clustering's
objective under joining (Bansal, Blum and Chawla 2004), as in greedy edge contraction (Keuper et al. 2015).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from allpairs.learner.light.groups.links import Links

Linkage = Literal["max", "mean", "sum"]


@dataclass(frozen=True)
class _Edges:
    """Links between groups a < b: the sum and the highest of p, and whether they must not be joined."""

    a: np.ndarray
    b: np.ndarray
    total: np.ndarray
    highest: np.ndarray
    banned: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Edges":
        return _Edges(*(column[chosen] for column in self._columns))

    @property
    def _columns(self) -> tuple[np.ndarray, ...]:
        return self.a, self.b, self.total, self.highest, self.banned

    def renamed(self, name: np.ndarray) -> "_Edges":
        """Return the edges between groups of these new names, (groups,): edges of the same two are one."""
        a = np.minimum(name[self.a], name[self.b])
        b = np.maximum(name[self.a], name[self.b])
        separate = a != b
        order = np.flatnonzero(separate)[np.lexsort((b[separate], a[separate]))]
        if not len(order):
            return self.take(order)
        a = a[order]
        b = b[order]
        starts = np.flatnonzero(np.concatenate([[True], (np.diff(a) != 0) | (np.diff(b) != 0)]))
        return _Edges(
            a[starts],
            b[starts],
            np.add.reduceat(self.total[order], starts),
            np.maximum.reduceat(self.highest[order], starts),
            np.logical_or.reduceat(self.banned[order], starts),
        )

    def __add__(self, edges: "_Edges") -> "_Edges":
        return _Edges(*map(np.concatenate, zip(self._columns, edges._columns, strict=True)))


def agglomerate(links: Links, start: np.ndarray, linkage: Linkage, least: float) -> np.ndarray:
    """Return the group of each text, (n,) int64, named by one of its texts.

    start: (n,) the groups to begin with, named likewise, such as those that people's yes makes. Two groups join while
    their linkage is high enough: the highest p of the pairs between them, or the mean of all of them, at least `least`;
    or the sum of p − least over them positive. Groups between which somebody said no never join.
    """
    group = start.copy()
    second = np.zeros(links.n, dtype=bool) if links.second is None else links.second
    sizes = np.array([np.bincount(group[side], minlength=links.n) for side in (~second, second)], dtype=np.float64)
    edges = _start(links).renamed(group)
    while len(edges.a):
        value = _value(edges, sizes, links.second is not None, linkage, least)
        open_ = ~edges.banned & (value >= (0 if linkage == "sum" else least))
        alive = np.zeros(links.n, dtype=bool)
        alive[edges.a[open_]] = alive[edges.b[open_]] = True
        is_alive = alive[edges.a] & alive[edges.b]  # a group without a partner now never gets one
        edges = edges.take(is_alive)
        value = value[is_alive]
        open_ = open_[is_alive]
        if not open_.any():
            break
        joined = _best_of_each_other(edges, np.where(open_, value, -np.inf), links.n)
        edges = _join(edges, joined, group, sizes)
    return group


def _start(links: Links) -> _Edges:
    """Return each link as an edge, and each no."""
    left = np.concatenate([links.left, links.no[:, 0]])
    right = np.concatenate([links.right, links.no[:, 1]])
    p = np.concatenate([links.p, np.zeros(len(links.no))])
    banned = np.arange(len(left)) >= len(links.left)
    return _Edges(np.minimum(left, right), np.maximum(left, right), p, p, banned)


def _value(edges: _Edges, sizes: np.ndarray, two_lists: bool, linkage: Linkage, least: float) -> np.ndarray:
    if linkage == "max":
        return edges.highest
    (first_a, first_b), (second_a, second_b) = ((side[edges.a], side[edges.b]) for side in sizes)
    pairs = first_a * second_b + second_a * first_b if two_lists else first_a * first_b
    return edges.total / pairs if linkage == "mean" else edges.total - least * pairs


def _best_of_each_other(edges: _Edges, value: np.ndarray, n: int) -> np.ndarray:
    """Return which edges are the best of both their groups; of equal ones the first."""
    best = np.full(n, -np.inf)
    first = np.full(n, len(value))
    for side in (edges.a, edges.b):
        np.maximum.at(best, side, value)
    tops = [(value == best[side]) & (value > -np.inf) for side in (edges.a, edges.b)]
    for side, top in zip((edges.a, edges.b), tops, strict=True):
        np.minimum.at(first, side[top], np.flatnonzero(top))
    place = np.arange(len(value))
    return tops[0] & tops[1] & (first[edges.a] == place) & (first[edges.b] == place)


def _join(edges: _Edges, joined: np.ndarray, group: np.ndarray, sizes: np.ndarray) -> _Edges:
    """Join the two groups of each of these edges, in place; return the edges that are left."""
    survivor = edges.a[joined]
    absorbed = edges.b[joined]
    name = np.arange(len(group))
    name[absorbed] = survivor
    group[:] = name[group]
    sizes[:, survivor] += sizes[:, absorbed]
    changed = np.zeros(len(group), dtype=bool)
    changed[survivor] = changed[absorbed] = True
    touched = changed[edges.a] | changed[edges.b]
    return edges.take(~touched) + edges.take(touched).renamed(name)
