"""The labelled pairs of an audit, and how many positives each of them may stand for."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.match_probability import draw_chances
from allpairs.learner.evaluation.audit.stratum_rates import draw_rates, first_strata

DRAWS = 1_000
LEAST = 0.2  # shape of the shares when very few positives were found
SPREAD = 1.5  # found positives that equal the prior weight of probabilities in placing a stratum's other positives


@dataclass(frozen=True)
class Sample:
    """Labelled pairs.

    stratum: (n,) int64, from 0, the highest; positive: (n,) bool; weight: (n,) float64, the inverse of the inclusion
    probability; sizes: (h,) pairs in each stratum; band: (h,) int64 the band of each stratum, ascending, two strata at
    most to a band; without it each stratum is a band; known: (h,) known positives beside each stratum's pairs. Every
    stratum has a labelled pair.
    """

    stratum: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    sizes: np.ndarray
    band: np.ndarray | None = None
    known: np.ndarray | None = None

    @property
    def labels(self) -> np.ndarray:
        """Labelled pairs in each stratum, (h,) int64."""
        return np.bincount(self.stratum, minlength=len(self.sizes))

    @property
    def positives(self) -> np.ndarray:
        """Positives among them, (h,) int64."""
        return np.bincount(self.stratum[self.positive], minlength=len(self.sizes))

    def effective(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the effective positives and labels of each stratum (Kish 1965): the plain counts for equal weights."""
        total, squares = self._sum(self.weight), self._sum(self.weight**2)
        labels = total**2 / np.maximum(squares, 1e-300)
        return labels * self._sum(self.weight * self.positive) / np.maximum(total, 1e-300), labels

    def draw_rates(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Draw (draws, h) the strata's shares of positives from their posterior."""
        return draw_rates(*self.effective(), self.sizes, draws, rng, self.band)

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.stratum, values, minlength=len(self.sizes))


@dataclass(frozen=True)
class Posterior:
    """Draws from the posterior.

    rates: (draws, h) shares of positives; mass, pairs: (draws, n) the positives, and all pairs, that each labelled pair
    stands for; ends: (b,) the last rank of each band, ascending, under the model that made them.
    """

    rates: np.ndarray
    mass: np.ndarray
    pairs: np.ndarray
    ends: np.ndarray


def draw_posterior(
    sample: Sample, rng: np.random.Generator, draws: int = DRAWS, ranks: np.ndarray | None = None
) -> Posterior:
    """Draw how many positives each stratum has, and how they are spread over its labelled pairs.

    ranks: (n, m) of the labelled pairs under each of the models to measure; without them all pairs of a stratum are
    alike. Each labelled positive stands for itself and for a random, on average equal share of its stratum's other
    positives (a Bayesian bootstrap, Rubin 1981). Some of these are placed at any labelled pair, by its probability of
    being a positive: otherwise a model better than the one that made the strata would show no gain where few positives
    are found.
    """
    rates = sample.draw_rates(draws, rng)
    unseen = rng.binomial(np.maximum(sample.sizes - sample.labels, 0), rates)
    alike = np.ones((len(sample.positive), 0))
    chance = draw_chances(sample.positive, alike if ranks is None else ranks, draws, rng)
    mass, pairs = np.empty_like(chance), np.empty_like(chance)
    for stratum in range(len(sample.sizes)):
        here = np.nonzero(sample.stratum == stratum)[0]
        positive = sample.positive[here]
        likely = chance[:, here] / chance[:, here].sum(1, keepdims=True)
        shape = _evenness(positive.sum()) * (positive + SPREAD * likely)
        others = sample.weight[here] - 1  # a pair that was certain to be drawn stands for itself alone
        part = rng.standard_gamma(shape) * others + 1e-300
        mass[:, here] = part * (unseen[:, stratum] / part.sum(1))[:, None] + positive
        other = rng.standard_gamma(1.0, part.shape) * others * ~positive + 1e-300
        rest = sample.sizes[stratum] - sample.labels[stratum] - unseen[:, stratum]
        pairs[:, here] = mass[:, here] + other * (rest / other.sum(1))[:, None] + ~positive
    ends = np.cumsum(np.add.reduceat(sample.sizes, first_strata(sample.sizes, sample.band))).astype(np.float64)
    return Posterior((sample.positives + unseen) / sample.sizes, mass, pairs, ends)


def _evenness(positives: int) -> float:
    """Return the shape of each found positive's share, such that the mean over them has its unbiased variance.

    Shares of shape 1 (Rubin's) vary less, by (k − 1)/(k + 1) for k positives; (k − 2)/k makes up for that.
    """
    return max((positives - 2) / positives, LEAST) if positives else 1.0
