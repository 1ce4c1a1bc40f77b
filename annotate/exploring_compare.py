"""Two rounds pair by pair: which pairs' probability changed most from one to the other."""

from dataclasses import dataclass

import numpy as np

from annotate.exploring import Round, Scored, best_pairs, known_pairs, probability

TOP = 20_000  # best pairs of each round that are compared, beside all known ones
DRAWN = 1_500  # points of the plot


@dataclass(frozen=True)
class Compared:
    """Pairs with both probabilities, (n,) float64, the greatest change first; scored: by the second round.

    bound: where a pair is not among those that a round keeps, its p there is at most the one given.
    """

    scored: Scored
    before: np.ndarray
    after: np.ndarray
    bound: np.ndarray

    def __len__(self) -> int:
        return len(self.before)

    @property
    def change(self) -> np.ndarray:
        """By how much p rose, (n,) float64."""
        return self.after - self.before


def compare(first: Round, second: Round) -> Compared:
    """All known pairs, and the best 20,000 of each round, by falling change of p. Both rounds have an output layer."""
    mine, other = _scores(first), _scores(second)
    wanted = np.unique(np.concatenate([_wanted(first), _wanted(second)]), axis=0)
    before, bound_before = mine.look_up(wanted)
    after, bound_after = other.look_up(wanted)
    scored = Scored(wanted[:, 0], wanted[:, 1], after)
    p_before, p_after = probability(first.matcher, before), probability(second.matcher, after)
    assert p_before is not None and p_after is not None
    order = np.argsort(-np.abs(p_after - p_before), kind="stable")
    return Compared(scored.take(order), p_before[order], p_after[order], (bound_before | bound_after)[order])


def drawn(compared: Compared, rng: np.random.Generator) -> np.ndarray:
    """Positions of the pairs that a plot shows: half of them the most changed, the others drawn from the rest."""
    most = np.arange(min(len(compared), DRAWN // 2))
    rest = np.arange(len(most), len(compared))
    return np.concatenate([most, rng.choice(rest, size=min(len(rest), DRAWN - len(most)), replace=False)])


@dataclass(frozen=True)
class _Kept:
    """The pairs that a round keeps, by key, ascending; lowest: the score below which pairs are not kept."""

    keys: np.ndarray
    score: np.ndarray
    lowest: float

    def look_up(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The score of each pair (n, 2), float32, and whether it is only known to be no higher."""
        keys = _keys(pairs[:, 0], pairs[:, 1])
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        there = self.keys[at] == keys
        return np.where(there, self.score[at], np.float32(self.lowest)), ~there


def _scores(found: Round) -> _Kept:
    best, known = best_pairs(found), known_pairs(found).scored
    keys = np.concatenate([_keys(best.left, best.right), _keys(known.left, known.right)])
    score = np.concatenate([best.score, known.score])
    keys, first = np.unique(keys, return_index=True)
    return _Kept(keys, score[first], float(best.score[-1]))


def _wanted(found: Round) -> np.ndarray:
    """(n, 2) items of the pairs of the round that are compared."""
    best, known = best_pairs(found).take(slice(TOP)), known_pairs(found).scored
    left, right = np.concatenate([best.left, known.left]), np.concatenate([best.right, known.right])
    return np.column_stack([left, right])


def _keys(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """One int64 for each pair of items, equal for equal pairs: ids are below 2³¹."""
    keys: np.ndarray = (left << 31) | right
    return keys
