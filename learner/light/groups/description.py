"""What groups look like: sizes, how many of their pairs match, their weakest links, their representatives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allpairs.learner.light.groups.links import Links


@dataclass(frozen=True)
class Groups:
    """Groups of two or more of n texts; arrays with one entry for each group, in the same order.

    group_of_text: (n,), −1 for a text alone. size: its texts; pairs: how many pairs they make; matches: how
    many of these are links or answered with yes; score: the mean score of the links. weakest: the lowest score of the
    links that hold the group together if people's yes and then the strongest do it; NaN where yes answers alone do.
    joined: (k, 2) the two texts of that link, −1 where there is none. central: its text with the most probable links in
    all, a yes having p = 1.
    """

    group_of_text: np.ndarray
    size: np.ndarray
    pairs: np.ndarray
    matches: np.ndarray
    score: np.ndarray
    weakest: np.ndarray
    joined: np.ndarray
    central: np.ndarray

    @property
    def coherence(self) -> np.ndarray:
        """The share of each group's pairs that are matches: 1 if all are, low in a chain."""
        return self.matches / self.pairs

    def texts(self, group: int) -> np.ndarray:
        """Return the texts of the group, ascending."""
        return np.flatnonzero(self.group_of_text == group)

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
    number = _numbered(group)
    size = np.bincount(number[number >= 0])
    left, right, score, p, answered = _matches(links, score.astype(np.float64))
    inner = (number[left] == number[right]) & (number[left] >= 0)
    left = left[inner]
    right = right[inner]
    score = score[inner]
    p = p[inner]
    answered = answered[inner]
    link_group = number[left]
    matches = np.bincount(link_group, minlength=len(size))
    scored = ~np.isnan(score)
    total = np.bincount(link_group[scored], weights=score[scored], minlength=len(size))
    mean = total / np.maximum(np.bincount(link_group[scored], minlength=len(size)), 1)
    weakest, joined = _weakest(left, right, np.where(answered, np.inf, score), link_group, links.n, len(size))
    mass = np.bincount(left, weights=p, minlength=links.n) + np.bincount(right, weights=p, minlength=links.n)
    return Groups(
        number, size, _pairs(number, size, links.second), matches, mean, weakest, joined, best_text(number, mass)
    )


def _matches(links: Links, score: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return left, right, score, p and whether people said yes, of the links and of each other yes (score NaN)."""
    yes = np.unique(np.sort(links.yes, axis=1), axis=0)
    keys = np.minimum(links.left, links.right) * links.n + np.maximum(links.left, links.right)
    answered = yes[:, 0] * links.n + yes[:, 1]
    is_answered = np.isin(keys, answered)
    more = yes[~np.isin(answered, keys)]
    return (
        np.concatenate([links.left, more[:, 0]]),
        np.concatenate([links.right, more[:, 1]]),
        np.concatenate([score, np.full(len(more), np.nan)]),
        np.concatenate([np.where(is_answered, 1.0, links.p), np.ones(len(more))]),
        np.concatenate([is_answered, np.ones(len(more), dtype=bool)]),
    )


def best_text(group: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the text of each group with the highest value, (k,) int64; of equal ones the first."""
    texts = np.flatnonzero(group >= 0)
    order = texts[np.lexsort((-value[texts], group[texts]))]
    return order[np.unique(group[order], return_index=True)[1]]


def longest_text(group: np.ndarray, texts: Sequence[str]) -> np.ndarray:
    """Return the longest text of each group, (k,) int64."""
    return best_text(group, np.array([len(text) for text in texts], dtype=np.int64))


def newest_text(group: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """Return the text of each group with the highest rank in a column (`order_by`), (k,) int64; NaN comes last."""
    return best_text(group, np.where(np.isnan(rank), -np.inf, rank))


@dataclass(frozen=True)
class Changes:
    """How many groups of two or more become others: the same, divided, or only joined with other texts."""

    same: int
    divided: int
    joined: int


def changes_of_groups(before: np.ndarray, after: np.ndarray) -> Changes:
    """Return what becomes of the groups; before, after: (n,) the group of each text."""
    old = _numbered(before)
    new = np.unique(after, return_inverse=True)[1].ravel()
    inside = old >= 0
    parts = np.unique(np.column_stack([old[inside], new[inside]]), axis=0)
    count = np.bincount(parts[:, 0], minlength=old.max(initial=-1) + 1)
    whole = parts[count[parts[:, 0]] == 1]
    same = np.bincount(old[inside])[whole[:, 0]] == np.bincount(new)[whole[:, 1]]
    return Changes(int(same.sum()), int((count > 1).sum()), int((~same).sum()))


def _numbered(group: np.ndarray) -> np.ndarray:
    """Return the number of each text's group, from 0, (n,) int64; −1 for a text alone."""
    codes = np.unique(group, return_inverse=True)[1].ravel()
    large = np.bincount(codes, minlength=1) > 1
    return np.where(large, np.cumsum(large) - 1, -1)[codes] if len(codes) else codes


def _pairs(group: np.ndarray, size: np.ndarray, second: np.ndarray | None) -> np.ndarray:
    if second is None:
        return size * (size - 1) // 2
    seconds = np.bincount(group[second & (group >= 0)], minlength=len(size))
    return seconds * (size - seconds)


def _weakest(
    left: np.ndarray, right: np.ndarray, strength: np.ndarray, link_group: np.ndarray, n: int, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest strength in the maximum spanning tree of each group, (groups,) float64, and its two texts.

    Of infinite strength there is none: NaN, and −1 for both texts.
    """
    from scipy.sparse import coo_array  # slow to import: see db/corpus/graph.py
    from scipy.sparse.csgraph import minimum_spanning_tree

    weakest = np.full(groups, np.nan)
    joined = np.full((groups, 2), -1, dtype=np.int64)
    if len(left):
        order = np.argsort(-strength, kind="stable")
        place = np.arange(1.0, len(left) + 1)  # the strongest link first
        tree = minimum_spanning_tree(coo_array((place, (left[order], right[order])), shape=(n, n)).tocsr())
        holds = tree.data.astype(np.int64) - 1
        holds = np.sort(holds[np.isfinite(strength[order[holds]])])
        last = np.full(groups, -1)
        last[link_group[order[holds]]] = order[holds]  # the last one of each group stays
        has_link = last >= 0
        weakest[has_link], joined[has_link, 0], joined[has_link, 1] = (
            strength[last[has_link]],
            left[last[has_link]],
            right[last[has_link]],
        )
    return weakest, joined


def with_equal_texts(groups: Groups, count: np.ndarray) -> Groups:
    """Return the groups, and a group of each text that is alone but has several ids; count: (n,) ids of each text."""
    single_texts = np.flatnonzero((groups.group_of_text < 0) & (count > 1))
    ones = np.ones(len(single_texts), dtype=np.int64)
    none = np.full(len(single_texts), np.nan)
    group_of_text = groups.group_of_text.copy()
    group_of_text[single_texts] = len(groups.size) + np.arange(len(single_texts))
    return Groups(
        group_of_text,
        size=np.append(groups.size, ones),
        pairs=np.append(groups.pairs, ones),
        matches=np.append(groups.matches, ones),
        score=np.append(groups.score, none),
        weakest=np.append(groups.weakest, none),
        joined=np.concatenate([groups.joined, np.full((len(single_texts), 2), -1, dtype=np.int64)]),
        central=np.append(groups.central, single_texts),
    )


def of_ids(groups: Groups, count: np.ndarray) -> tuple[np.ndarray, Groups]:
    """Return the text of each id, and the groups with ids in the place of texts: (m,), in the order of the texts.

    Sizes are numbers of ids; the shares of pairs that match, and the scores, are those of texts.
    """
    text = np.repeat(np.arange(len(count)), count)
    group_of_id = groups.group_of_text[text]
    first_id = np.cumsum(count) - count
    size = np.bincount(group_of_id[group_of_id >= 0], minlength=len(groups.size))
    joined = np.where(groups.joined < 0, -1, first_id[groups.joined])
    return text, replace(groups, group_of_text=group_of_id, size=size, joined=joined, central=first_id[groups.central])
