"""The labelled pairs of an audit, and how many positives each of them may stand for."""

from dataclasses import dataclass

import numpy as np

from learner.audit.rates import draw_rates

DRAWS = 1_000
SPREAD = 0.5  # of one pseudo-positive, over all labelled pairs of a stratum: where unseen positives of it may lie


@dataclass(frozen=True)
class Sample:
    """Labelled pairs of the audited pool.

    stratum: (n,) int64, from 0, the highest; positive: (n,) bool; weight: (n,) float64, one over the probability with
    which the pair was drawn; sizes: (h,) pairs in each stratum. Every stratum has a labelled pair.
    """

    stratum: np.ndarray
    positive: np.ndarray
    weight: np.ndarray
    sizes: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """Labelled pairs in each stratum, (h,) int64."""
        return np.bincount(self.stratum, minlength=len(self.sizes))

    @property
    def positives(self) -> np.ndarray:
        """Positives among them, (h,) int64."""
        return np.bincount(self.stratum[self.positive], minlength=len(self.sizes))

    def effective(self) -> tuple[np.ndarray, np.ndarray]:
        """Effective positives and labels of each stratum (Kish 1965): the counts themselves where weights are equal."""
        total, squares = self._sum(self.weight), self._sum(self.weight**2)
        labels = total**2 / np.maximum(squares, 1e-300)
        return labels * self._sum(self.weight * self.positive) / np.maximum(total, 1e-300), labels

    def _sum(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.stratum, values, minlength=len(self.sizes))


@dataclass(frozen=True)
class Posterior:
    """Draws of what the labels leave open. rates: (draws, h); mass: (draws, n), the positives each pair stands for."""

    rates: np.ndarray
    mass: np.ndarray


def draw_posterior(sample: Sample, rng: np.random.Generator, draws: int = DRAWS) -> Posterior:
    """How many positives each stratum has, and how they lie among its labelled pairs.

    Each labelled positive stands for itself and for a random, on average equal part of its stratum's other positives (a
    Bayesian bootstrap, Rubin 1981); half a positive more may lie with any labelled pair.
    """
    rates = draw_rates(*sample.effective(), sample.sizes, draws, rng)
    unseen = rng.binomial(np.maximum(sample.sizes - sample.labels, 0), rates)
    shape = sample.positive + SPREAD / sample.labels[sample.stratum]
    part = rng.standard_gamma(np.broadcast_to(shape, (draws, len(shape)))) * sample.weight + 1e-300
    for stratum in range(len(sample.sizes)):
        here = np.nonzero(sample.stratum == stratum)[0]
        part[:, here] *= (unseen[:, stratum] / part[:, here].sum(1))[:, None]
    return Posterior((sample.positives + unseen) / sample.sizes, part + sample.positive)
