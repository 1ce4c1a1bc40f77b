"""What labels of one list imply: A = B, B = C make A = C, and A = B, B ≠ C make A ≠ C; and where they conflict."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from db.corpus import graph
from db.domain import InputError

MOST = 2_000_000  # implied pairs


@dataclass(frozen=True)
class Contradiction:
    """A pair labelled a negative, and the items from its left one to its right one over labelled positives."""

    left: int
    right: int
    path: tuple[int, ...]


@dataclass(frozen=True)
class Implied:
    """What follows from labelled pairs.

    pairs: (n, 2) int64, left < right, none of them labelled, matches first; positive: (n,) bool. groups: the items that
    positives join, each group ascending. Nothing is drawn from a group with a contradiction.
    """

    pairs: np.ndarray
    positive: np.ndarray
    groups: list[list[int]]
    contradictions: list[Contradiction]


def implied(pairs: np.ndarray, positive: np.ndarray) -> Implied:
    """What follows from the labels of one list's pairs. pairs: (n, 2) items, left < right; positive: (n,) bool.

    Raises InputError where more than two million pairs would follow.
    """
    items, flat = np.unique(pairs, return_inverse=True)
    rows, positive = flat.reshape(-1, 2), np.asarray(positive, dtype=bool)
    component = graph.components(len(items), map(tuple, rows[positive].tolist()))
    groups = graph.groups(component)
    ends = component[rows[~positive]]
    clash = ends[:, 0] == ends[:, 1]
    spoilt = set(ends[clash, 0].tolist())
    sound = [group for group in groups if int(component[group[0]]) not in spoilt]
    of = {int(component[group[0]]): group for group in groups}
    apart = {(min(pair), max(pair)) for pair in ends[~clash].tolist() if not spoilt.intersection(pair)}
    sides = [(of.get(one, [one]), of.get(other, [other])) for one, other in apart]
    _require_few(sound, sides)
    seen = set(map(tuple, rows.tolist()))
    same = set(graph.closure(sound)) - seen
    other = {(min(pair), max(pair)) for one, another in sides for pair in product(one, another)} - seen
    follows = np.array([*sorted(same), *sorted(other)], dtype=np.int64).reshape(-1, 2)
    paths = _paths(rows[positive].tolist(), rows[~positive][clash].tolist())
    return Implied(
        items[follows],
        np.arange(len(follows)) < len(same),
        [items[group].tolist() for group in groups],
        [Contradiction(int(items[path[0]]), int(items[path[-1]]), tuple(items[path].tolist())) for path in paths],
    )


def _require_few(groups: Sequence[Sequence[int]], sides: Sequence[tuple[Sequence[int], Sequence[int]]]) -> None:
    total = sum(len(group) * (len(group) - 1) // 2 for group in groups) + sum(len(a) * len(b) for a, b in sides)
    if total > MOST:
        largest = max(map(len, groups), default=0)
        raise InputError(
            f"the labels imply {total:,} pairs, and the limit is {MOST:,}; the largest group has {largest:,} texts: "
            "look for wrong positives in it"
        )


def _paths(positives: list[list[int]], ends: list[list[int]]) -> list[list[int]]:
    """Of each pair of ends the shortest path of positives between them."""
    neighbours: dict[int, list[int]] = {}
    for one, other in positives:
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    return [_path(neighbours, *pair) for pair in ends]


def _path(neighbours: dict[int, list[int]], start: int, end: int) -> list[int]:
    before, queue = {start: start}, deque([start])
    while end not in before:
        at = queue.popleft()
        for to in neighbours[at]:
            if to not in before:
                before[to] = at
                queue.append(to)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]
