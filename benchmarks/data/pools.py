"""Pools for the benchmark of estimators: all pairs by rank under a model, of which only the positives are stored."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

FIGURES = ("average_precision", "f1", "precision_at_recall_20", "recall", "positives")
PAIRS = 10**8
POSITIVES = 1_000
# Scores of the negatives are normal (0, 1), those of the positives normal with this mean and standard deviation.
# Of a band's positives, q^power are in the share q of its pairs of the highest lexical similarity (1: no help).
SHAPES = {
    "A": (4.55, 1.0, 0.1),
    "B": (5.6, 1.0, 0.1),
    "C": (4.8, 1.5, 0.3),
    "D": (4.0, 0.5, 0.9),
    "E": (6.2, 0.9, 0.1),
    "F": (2.7, 1.5, 0.3),
}


@dataclass(frozen=True)
class Pool:
    """All pairs, the highest score at rank 1.

    positives: (k,) int64, the ranks of the positives, ascending; alike: (k,) from 0 to 1, the share of the pairs of its
    band (`band_ends`) that are lexically at least as similar as this positive.
    """

    name: str
    pairs: int
    positives: np.ndarray
    alike: np.ndarray

    @property
    def threshold(self) -> int:
        """The rank at which F1 and recall are measured: the number of positives."""
        return len(self.positives)

    def labels(self, ranks: np.ndarray) -> np.ndarray:
        """Return whether the pairs at those ranks (n,) are positives, (n,) bool."""
        at = np.minimum(np.searchsorted(self.positives, ranks), len(self.positives) - 1)
        return self.positives[at] == ranks

    def truth(self) -> np.ndarray:
        """Return the figures (5,), in the order of FIGURES."""
        ranks = self.positives
        precision = np.arange(1, len(ranks) + 1) / ranks
        found = np.searchsorted(ranks, self.threshold, "right")
        at_20 = precision[int(np.ceil(0.2 * len(ranks))) - 1]
        f1 = 2 * found / (len(ranks) + self.threshold)
        return np.array([precision.mean(), f1, at_20, found / len(ranks), len(ranks)])


def simulated(name: str) -> Pool:
    """Return the pool of that shape: 100 million pairs, 1,000 positives, always the same ones."""
    mean, spread, power = SHAPES[name]
    rng = np.random.default_rng([ord(name), PAIRS])
    scores = np.sort(rng.normal(mean, spread, POSITIVES))[::-1]
    negatives = rng.poisson(PAIRS * np.diff(norm.sf(scores), prepend=0.0)).cumsum()
    alike = rng.random(POSITIVES) ** (1 / power)
    return Pool(name, PAIRS, negatives + np.arange(1, POSITIVES + 1), alike)


def bands_to(pairs: int, top: int, floor: float) -> np.ndarray:
    """Return ranks (h + 1,) int64 between bands that double from the top down to `floor`; the first is 0."""
    ends = [0, top]
    while ends[-1] < min(floor, pairs):
        ends.append(2 * ends[-1])
    return np.minimum(ends, pairs)


def draw_ranks(after: int, until: int, draw: int, rng: np.random.Generator) -> np.ndarray:
    """Draw distinct ranks from `after` + 1 to `until`, (draw,) int64 in random order; all, if there are fewer."""
    return after + 1 + rng.choice(until - after, size=min(draw, until - after), replace=False)
