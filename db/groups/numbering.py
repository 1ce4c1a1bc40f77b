"""Stable numbers of groups: which new group keeps which earlier one's, and what has changed; arrays alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from allpairs.db.domain import GroupEvent


@dataclass(frozen=True)
class Numbered:
    """The texts in groups: of two or more ids, which may be those of one text.

    items: (n,) int64 ids, ascending, each once. number: (n,) int64, that of each one's group, from 1.
    """

    items: np.ndarray
    number: np.ndarray

    @classmethod
    def none(cls) -> "Numbered":
        """Return no groups."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class Change:
    """What became of one group: its texts before and after, and how many were added and removed.

    from_groups: the other groups that its new texts were in; to_groups: those that its lost texts are in now; both with
    the most texts first. items_added, items_removed: their ids, ascending.
    """

    number: int
    event: GroupEvent
    before: int
    size: int
    from_groups: list[int]
    to_groups: list[int]
    items_added: list[int]
    items_removed: list[int]


def renumbered(before: Numbered, items: np.ndarray, group: np.ndarray, unused: int) -> Numbered:
    """Return new groups with the numbers of the earlier ones whose texts they hold.

    items: (n,) int64 ids of the texts in groups, each once; group: (n,) the group of each, under any name. The earlier
    and the new group that share the most texts get the same number, then those of the remaining ones, and so on. Of
    equal shares that of the smallest number comes first, then that of the new group with the smallest item. Other
    groups get the numbers from `unused` on, by their smallest items.

    Source: Gale and Shapley (1962): no earlier and new group share more texts than each of them does with its own.
    It takes no longer than sorting, and at least half as many texts keep their number as could at most.
    """
    items, place = _in_groups(items, group)
    number = np.zeros(place.max(initial=-1) + 1, dtype=np.int64)
    used_numbers: set[int] = set()
    for old, new in _shares(before, items, place):
        if old not in used_numbers and not number[new]:
            number[new] = old
            used_numbers.add(old)
    fresh = number == 0
    number[fresh] = unused + np.arange(fresh.sum())
    return Numbered(items, number[place])


def _in_groups(items: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the texts, ascending, and the place of each one's group by its smallest text."""
    order = np.argsort(items)
    _, first, code = np.unique(group[order], return_index=True, return_inverse=True)
    return items[order].astype(np.int64), np.argsort(np.argsort(first))[code]


def _shares(before: Numbered, items: np.ndarray, place: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield number and place of each two groups that share texts, the most texts first."""
    _, old_places, new_places = np.intersect1d(before.items, items, assume_unique=True, return_indices=True)
    wide = place.max(initial=0) + 1
    keys, count = np.unique(before.number[old_places] * wide + place[new_places], return_counts=True)
    keys = keys[np.argsort(-count, kind="stable")]  # keys ascend by number, then by place
    return zip((keys // wide).tolist(), (keys % wide).tolist(), strict=True)


def changes_by_number(before: Numbered, after: Numbered) -> Iterator[Change]:
    """Yield a change for each group whose texts are not the same, by its number."""
    items = np.union1d(before.items, after.items)
    old = _numbers(items, before)
    new = _numbers(items, after)
    moved = old != new
    items = items[moved]
    old = old[moved]
    new = new[moved]
    numbers = np.union1d(old, new)
    numbers = numbers[numbers > 0]
    sizes = [np.bincount(one.number, minlength=numbers.max(initial=0) + 1)[numbers].tolist() for one in (before, after)]
    old_sizes = _sizes(before)
    new_sizes = _sizes(after)
    parts = zip(
        numbers.tolist(), *sizes, _grouped(new, numbers, old, items), _grouped(old, numbers, new, items), strict=True
    )
    for number, was, size, (sources, added), (targets, removed) in parts:
        joined = any(source >= len(new_sizes) or not new_sizes[source] for source in sources)
        divided = any(target >= len(old_sizes) or not old_sizes[target] for target in targets)
        event = _event(was, size, joined, divided, len(added), len(removed))
        yield Change(number, event, was, size, sources, targets, added, removed)


def _numbers(items: np.ndarray, groups: Numbered) -> np.ndarray:
    """Return the number of each item's group, 0 for none."""
    number = np.zeros(len(items), dtype=np.int64)
    number[np.searchsorted(items, groups.items)] = groups.number
    return number


def _sizes(groups: Numbered) -> list[int]:
    sizes: list[int] = np.bincount(groups.number).tolist()
    return sizes


def _grouped(
    number: np.ndarray, numbers: np.ndarray, other_number: np.ndarray, items: np.ndarray
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield for each number the other groups of its texts, those with the most of them first, and its texts."""
    order = np.argsort(number, kind="stable")
    wide = other_number.max(initial=0) + 1
    keys, count = np.unique((number * wide + other_number)[other_number > 0], return_counts=True)
    keys = keys[np.lexsort((keys, -count, keys // wide))]
    return zip(_parts(keys // wide, numbers, keys % wide), _parts(number[order], numbers, items[order]), strict=True)


def _parts(number: np.ndarray, numbers: np.ndarray, values: np.ndarray) -> Iterator[list[int]]:
    """Yield the values of each number, in their order. number: of each value, ascending."""
    starts = np.searchsorted(number, numbers).tolist()
    ends = np.searchsorted(number, numbers, side="right").tolist()
    items = values.tolist()
    return (items[start:end] for start, end in zip(starts, ends, strict=True))


def _event(before: int, size: int, joined: bool, divided: bool, added: int, removed: int) -> GroupEvent:
    """Return the word for it; joined: a group of before ended in it, divided: a new group came of it."""
    if not before or not size:
        return GroupEvent.ENDED if before else GroupEvent.CREATED
    if joined or divided:
        return GroupEvent.JOINED if joined else GroupEvent.DIVIDED
    if added and removed:
        return GroupEvent.CHANGED
    return GroupEvent.GROWN if added else GroupEvent.SHRUNK
