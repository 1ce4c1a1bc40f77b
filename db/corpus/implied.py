"""What labels of one list imply: A = B, B = C make A = C; A = B, B ≠ C make A ≠ C; and where they conflict."""

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.errors import InputError

MOST = 2_000_000  # implied pairs


@dataclass(frozen=True)
class Contradiction:
    """A pair labelled as a negative, and the path of labelled positives from its left to its right item."""

    left: int
    right: int
    path: tuple[int, ...]


@dataclass(frozen=True)
class LabelLinks:
    """The links between the labelled items of one list. However many pairs are implied, none is enumerated here.

    items: (n,) labelled items; rows: (labels, 2) places in it; positive: (labels,) bool; component: (n,) the place of
    the first item that positives connect each with; spoilt: components with a contradiction, which imply nothing;
    separated: (pairs, 2) components, none of them spoilt, that a negative keeps apart.
    """

    items: np.ndarray
    rows: np.ndarray
    positive: np.ndarray
    component: np.ndarray
    spoilt: np.ndarray
    separated: np.ndarray

    @cached_property
    def sizes(self) -> np.ndarray:
        """Number of items in the component of each name, (n,); 0 where there is none."""
        return np.bincount(self.component, minlength=len(self.items))

    @cached_property
    def clashes(self) -> np.ndarray:
        """Whether each label is a negative within a component, (labels,) bool."""
        ends = self.component[self.rows]
        return ~self.positive & (ends[:, 0] == ends[:, 1])

    @property
    def groups(self) -> int:
        """Number of groups of two or more items connected by positives."""
        return int((self.sizes > 1).sum())

    @property
    def matches(self) -> int:
        """Number of implied positives."""
        sizes = np.delete(self.sizes, self.spoilt)
        labelled = ~np.isin(self.component[self.rows[self.positive, 0]], self.spoilt)
        return int((sizes * (sizes - 1) // 2).sum() - labelled.sum())

    @property
    def others(self) -> int:
        """Number of implied negatives."""
        first, second = np.unique(self.separated, axis=0).T
        return int((self.sizes[first] * self.sizes[second]).sum() - len(self.separated))

    def trouble(self) -> str:
        """Return why the implied pairs cannot be enumerated: there are too many; empty if they can."""
        total = self.matches + self.others
        largest = self.sizes.max(initial=0)
        if total <= MOST:
            return ""
        return (
            f"the labels imply {total:,} pairs, but the limit is {MOST:,}; the largest group has {largest:,} texts: "
            "look for wrong positives in it"
        )

    def contradictions(self, most: int) -> list[Contradiction]:
        """Return the first contradictions, each with the shortest path of positives."""
        neighbours: dict[int, list[int]] = {}
        for first, second in self.rows[self.positive].tolist():
            neighbours.setdefault(first, []).append(second)
            neighbours.setdefault(second, []).append(first)
        paths = [_path(neighbours, *ends) for ends in self.rows[self.clashes][:most].tolist()]
        return [
            Contradiction(int(self.items[path[0]]), int(self.items[path[-1]]), tuple(self.items[path].tolist()))
            for path in paths
        ]


@dataclass(frozen=True)
class Implied:
    """The pairs that follow from labelled pairs.

    pairs: (n, 2) int64, left < right, none of them labelled, matches first; positive: (n,) bool. A group with a
    contradiction implies nothing.
    """

    pairs: np.ndarray
    positive: np.ndarray


def links_of(pairs: np.ndarray, positive: np.ndarray) -> LabelLinks:
    """Return the links between labelled items. pairs: (n, 2), left < right, each once; positive: (n,) bool."""
    items, flat = np.unique(pairs, return_inverse=True)
    rows = flat.reshape(-1, 2)
    positive = np.asarray(positive, dtype=bool)
    component = graph.components(len(items), rows[positive])
    ends = np.sort(component[rows[~positive]], axis=1)
    clash = ends[:, 0] == ends[:, 1]
    spoilt = np.unique(ends[clash])
    separated = ends[~np.isin(ends, spoilt).any(axis=1)]
    return LabelLinks(items, rows, positive, component, spoilt, separated)


def implied(pairs: np.ndarray, positive: np.ndarray) -> Implied:
    """Return what follows from the labels of one list's pairs, which are as in `links_of`.

    Raises InputError if more than two million pairs would follow.
    """
    links = links_of(pairs, positive)
    if trouble := links.trouble():
        raise InputError(trouble)
    groups = {int(links.component[group[0]]): group for group in graph.joined_groups(links.component)}
    sound = [groups[name] for name in groups.keys() - set(links.spoilt.tolist())]
    separated = np.unique(links.separated, axis=0).tolist()
    sides = [(groups.get(first, [first]), groups.get(second, [second])) for first, second in separated]
    labelled = set(map(tuple, links.rows.tolist()))
    same = set(graph.closure(sound)) - labelled
    negatives = {(min(pair), max(pair)) for left, right in sides for pair in product(left, right)} - labelled
    follows = np.array([*sorted(same), *sorted(negatives)], dtype=np.int64).reshape(-1, 2)
    return Implied(links.items[follows], np.arange(len(follows)) < len(same))


def _path(neighbours: dict[int, list[int]], start: int, end: int) -> list[int]:
    """Return the shortest path from start to end."""
    before = {start: start}
    queue = deque([start])
    while end not in before:
        node = queue.popleft()
        for to in neighbours[node]:
            if to not in before:
                before[to] = node
                queue.append(to)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
