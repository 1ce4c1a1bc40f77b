"""Single texts that move to another group, or out of theirs, while that raises correlation clustering's objective.

The objective is the sum of p − least over all pairs within groups (Bansal, Blum and Chawla 2004). Moves of single
texts after a greedy start: Elsner and Schudy (2009).
"""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.light.groups.links import Links

ROUNDS = 50  # at most
LEAST_GAIN = 1e-9  # rounding moves nobody


@dataclass(frozen=True)
class _Ends:
    """Both ends of every link: a text, the other one, p, and whether they must not be in one group."""

    text: np.ndarray
    other_text: np.ndarray
    p: np.ndarray
    banned: np.ndarray

    def take(self, chosen: np.ndarray) -> "_Ends":
        return _Ends(self.text[chosen], self.other_text[chosen], self.p[chosen], self.banned[chosen])


def moved(links: Links, group: np.ndarray, fixed: np.ndarray, least: float) -> np.ndarray:
    """Return the group of each text after the moves, (n,) int64. fixed: (n,) bool, texts that stay where they are.

    Of the moves of a round those that share no group are made, the best first, so that each keeps its gain.
    """
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    second = np.zeros(links.n, dtype=bool) if links.second is None else links.second
    ends = _ends(links)
    look = ~fixed
    for _ in range(ROUNDS):
        text, target, gain = _moves(ends.take(look[ends.text]), group, second, links.second is not None, least)
        better = gain > LEAST_GAIN
        text = text[better]
        target = target[better]
        gain = gain[better]
        if not len(text):
            break
        order = np.argsort(-gain, kind="stable")
        text = text[order]
        target = target[order]
        chosen = _first_of_both(group[text], target)
        # Only these can gain by a move next time: who waited, and who is in a changed group or has a link into one.
        changed = np.zeros(links.n + int(target.max()) + 1, dtype=bool)
        changed[group[text[chosen]]] = changed[target[chosen]] = True
        group[text[chosen]] = target[chosen]
        look = changed[group]
        look[ends.text[look[ends.other_text]]] = True
        look[text] = True
        look &= ~fixed
        group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return group


def _ends(links: Links) -> _Ends:
    text = np.concatenate([links.left, links.right, links.no[:, 0], links.no[:, 1]])
    partner = np.concatenate([links.right, links.left, links.no[:, 1], links.no[:, 0]])
    p = np.concatenate([links.p, links.p, np.zeros(2 * len(links.no))])
    return _Ends(text, partner, p, np.arange(len(text)) >= 2 * len(links.p))


def _moves(
    ends: _Ends, group: np.ndarray, second: np.ndarray, two_lists: bool, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each text that has links its best move: the text, the group, and the gain of the objective.

    A group beyond the last one stands for a group of its own.
    """
    k = int(group.max(initial=-1)) + 1
    texts = np.unique(ends.text)
    key = ends.text * k + group[ends.other_text]
    order = np.argsort(key, kind="stable")
    keys, starts = np.unique(key[order], return_index=True)
    text = keys // k
    target = keys % k
    sizes = np.array([np.bincount(group[side], minlength=k) for side in (~second, second)])
    partners = np.where(second[text], sizes[0][target], sizes[1][target]) if two_lists else sizes[0][target]
    stays_put = group[text] == target
    attraction = np.add.reduceat(ends.p[order], starts) - least * (partners - (stays_put & (not two_lists)))
    attraction[np.logical_or.reduceat(ends.banned[order], starts) & ~stays_put] = -np.inf
    stays = _of_staying(texts, group, second, sizes, two_lists, least)
    stays[np.searchsorted(texts, text[stays_put])] = attraction[stays_put]
    movers = np.concatenate([text[~stays_put], texts])
    targets = np.concatenate([target[~stays_put], k + np.arange(len(texts))])
    gain = np.concatenate([attraction[~stays_put], np.zeros(len(texts))]) - stays[np.searchsorted(texts, movers)]
    best = np.lexsort((targets, -gain, movers))
    best = best[np.unique(movers[best], return_index=True)[1]]
    return movers[best], targets[best], gain[best]


def _of_staying(
    texts: np.ndarray, group: np.ndarray, second: np.ndarray, sizes: np.ndarray, two_lists: bool, least: float
) -> np.ndarray:
    """Return the attraction of each text's own group if it has no link within it."""
    current = group[texts]
    partners = np.where(second[texts], sizes[0][current], sizes[1][current]) if two_lists else sizes[0][current] - 1
    return -least * partners.astype(np.float64)


def _first_of_both(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which moves, best first, are the first one of both their groups."""
    place = np.arange(len(source))
    first = np.full(max(source.max(), target.max()) + 1, len(source))
    for side in (source, target):
        np.minimum.at(first, side, place)
    return (first[source] == place) & (first[target] == place)
