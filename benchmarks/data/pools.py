"""Pools for the benchmark of estimators: all pairs by rank under a model, of which only the positives are stored."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

FIGURES = ("average_precision", "f1", "precision_at_recall_20", "recall")
PAIRS, POSITIVES = 10**8, 1_000
# Scores of the negatives are normal (0, 1), those of the positives normal with this mean and standard deviation.
SHAPES = {"A": (4.55, 1.0), "B": (5.6, 1.0), "C": (3.9, 1.5), "D": (4.0, 0.5)}


@dataclass(frozen=True)
class Pool:
    """All pairs, the most similar one at rank 1. positives: (k,) int64, the ranks of the positives, ascending."""

    name: str
    pairs: int
    positives: np.ndarray

    @property
    def threshold(self) -> int:
        """The rank at which F1 and recall are measured: the number of positives."""
        return len(self.positives)

    def labels(self, ranks: np.ndarray) -> np.ndarray:
        """Return whether the pairs at those ranks (n,) are positives, (n,) bool."""
        at = np.minimum(np.searchsorted(self.positives, ranks), len(self.positives) - 1)
        return self.positives[at] == ranks

    def truth(self) -> np.ndarray:
        """Return the figures (4,), in the order of FIGURES."""
        ranks = self.positives
        precision = np.arange(1, len(ranks) + 1) / ranks
        found = np.searchsorted(ranks, self.threshold, "right")
        at_20 = precision[int(np.ceil(0.2 * len(ranks))) - 1]
        return np.array([precision.mean(), 2 * found / (len(ranks) + self.threshold), at_20, found / len(ranks)])


def simulated(name: str) -> Pool:
    """Return the pool of that shape: 100 million pairs, 1,000 positives, always the same ones."""
    mean, spread = SHAPES[name]
    rng = np.random.default_rng([ord(name), PAIRS])
    scores = np.sort(rng.normal(mean, spread, POSITIVES))[::-1]
    negatives = rng.poisson(PAIRS * np.diff(norm.sf(scores), prepend=0.0)).cumsum()
    return Pool(name, PAIRS, negatives + np.arange(1, POSITIVES + 1))


def bands_to(pairs: int, top: int, floor: float) -> np.ndarray:
    """Return ranks (h + 1,) int64 between bands that double from the top down to `floor`; the first is 0."""
    ends = [0, top]
    while ends[-1] < min(floor, pairs):
        ends.append(2 * ends[-1])
    return np.minimum(ends, pairs)


def draw_ranks(after: int, until: int, draw: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct ranks from `after` + 1 to `until`, (draw,) int64 in random order; all, if there are fewer."""
    return after + 1 + rng.choice(until - after, size=min(draw, until - after), replace=False)
