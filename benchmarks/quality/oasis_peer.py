"""OASIS over rank intervals: the published algorithm without an array over all pairs.

Source: Marchant and Rubinstein (2017): strata, a Beta–Bernoulli model of the share of positives in each, and draws with
replacement from the instrumental distribution that is asymptotically best for F, mixed with the uniform one. Their
package (`oasis` 0.1.3) keeps several arrays over all pairs; this code keeps only the strata. Names and defaults are the
package's.
"""

from dataclasses import dataclass

import numpy as np

from benchmarks.data.pools import Pool

ALPHA = 0.5  # F1
EPSILON = 1e-3  # share of draws from the uniform distribution
STRATA = 30


@dataclass(frozen=True)
class Strata:
    """edges: (k + 1,) ranks between the strata; chance: (k,) the scores' mean probability of a positive in each."""

    edges: np.ndarray
    chance: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of pairs in each stratum, (k,) int64."""
        return np.diff(self.edges)

    def predicted(self, threshold: int) -> np.ndarray:
        """Return the share of each stratum's pairs that the model calls positive, (k,)."""
        return np.diff(np.minimum(self.edges, threshold)) / self.sizes


@dataclass(frozen=True)
class Draws:
    """Draws with replacement, (t,) each: rank int64, positive bool, weight, and the labels used up to then."""

    rank: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    labels: np.ndarray

    def until(self, labels: int) -> "Draws":
        """Return the draws until that many labels were used."""
        n = int(np.searchsorted(self.labels, labels)) + 1
        return Draws(self.rank[:n], self.positive[:n], self.weight[:n], self.labels[:n])


class Sampler:
    """Draws pair after pair from the instrumental distribution given the labels so far."""

    def __init__(self, pool: Pool, strata: Strata, rng: np.random.Generator) -> None:
        self.pool = pool
        self.strata = strata
        self.rng = rng
        self.share = strata.sizes / pool.pairs
        self.predicted = strata.predicted(pool.threshold)
        self.prior = 2.0 * np.array([strata.chance, 1 - strata.chance])  # total strength: twice the number of strata
        self.seen = np.zeros_like(self.prior)  # positives, negatives
        self.true = self.positive = self.called = 0.0  # weights of true, actual and predicted positives
        self.guess = self._f(*(self.share * x for x in (self.predicted * strata.chance, strata.chance, self.predicted)))

    @staticmethod
    def _f(true: np.ndarray, positive: np.ndarray, called: np.ndarray) -> float:
        return float(true.sum() / (ALPHA * called.sum() + (1 - ALPHA) * positive.sum()))

    @property
    def estimate(self) -> float:
        """Return F so far; before any label, the estimate from the scores."""
        below = ALPHA * self.called + (1 - ALPHA) * self.positive
        return self.true / below if below > 0 else self.guess

    def instrumental(self) -> np.ndarray:
        """Return the probability of each stratum for the next draw, (k,): the paper's equations 5 and 10."""
        counts = self.seen + self.prior / np.maximum(self.seen.sum(0), 1)
        rate = counts[0] / counts.sum(0)
        f = self.estimate
        called = self.predicted * (ALPHA**2 * f**2 * (1 - rate) + (1 - f) ** 2 * rate)
        best = self.share * np.sqrt(called + (1 - self.predicted) * (1 - ALPHA) ** 2 * f**2 * rate)
        return (1 - EPSILON) * best / best.sum() + EPSILON * self.share

    def draw(self) -> tuple[int, bool, float]:
        """Return rank, label and weight of the next pair."""
        chance = self.instrumental()
        at = int(np.searchsorted(np.cumsum(chance), self.rng.random() * chance.sum(), "right"))
        rank = int(self.rng.integers(self.strata.edges[at], self.strata.edges[at + 1])) + 1
        positive = bool(self.pool.labels(np.array([rank]))[0])
        weight = float(self.share[at] / chance[at])
        self.seen[0 if positive else 1, at] += 1
        self.true += weight * (positive and rank <= self.pool.threshold)
        self.positive += weight * positive
        self.called += weight * (rank <= self.pool.threshold)
        return rank, positive, weight


def sample(pool: Pool, strata: Strata, labels: int, rng: np.random.Generator) -> Draws:
    """Draw until that many distinct pairs are labelled."""
    sampler = Sampler(pool, strata, rng)
    known = set[int]()
    rows = []
    while len(known) < labels:
        rank, positive, weight = sampler.draw()
        known.add(rank)
        rows.append((rank, positive, weight, len(known)))
    rank, positive, weight, used = (np.array(column) for column in zip(*rows, strict=True))
    return Draws(rank, positive, weight, used)


def f_interval(draws: Draws, threshold: int) -> np.ndarray:
    """Return F's value, low and high (3,): a ratio of weighted means with the linearised normal interval."""
    called = draws.rank <= threshold
    true = draws.weight * (called & draws.positive)
    below = draws.weight * (ALPHA * called + (1 - ALPHA) * draws.positive)
    if not below.any():
        return np.zeros(3)
    value = true.sum() / below.sum()
    half = 1.96 * np.sqrt(((true - value * below) ** 2).sum()) / below.sum()
    return np.array([value, value - half, value + half])
