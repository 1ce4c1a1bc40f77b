"""The L2 calibration error with twenty bins of p.

Source: the code released by Mussmann, Jia and Liang (2020).
"""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.models.output_layer import OutputLayer

BINS = 20  # of equal width


@dataclass(frozen=True)
class Reliability:
    """Pairs, the sum of their p, and the positives among them in each bin of p: three (20,) float64 arrays."""

    pairs: np.ndarray
    p: np.ndarray
    positives: np.ndarray

    def __add__(self, addend: "Reliability") -> "Reliability":
        return Reliability(self.pairs + addend.pairs, self.p + addend.p, self.positives + addend.positives)

    @property
    def error(self) -> float:
        """√ Σ nᵦ/N · (mean pᵦ − share of positivesᵦ)² over the bins that hold pairs."""
        nonempty = self.pairs > 0
        squares = (self.p[nonempty] - self.positives[nonempty]) ** 2 / self.pairs[nonempty]
        return float(np.sqrt(squares.sum() / self.pairs.sum()))


def reliability(p: np.ndarray, positive: bool, weight: float = 1.0) -> Reliability:
    """Return the bins of pairs that are all positives, or all negatives; p: (n,), each stands for `weight` pairs."""
    place = bin_of(p)
    pairs = weight * np.bincount(place, minlength=BINS)
    return Reliability(pairs, weight * np.bincount(place, p, BINS), pairs if positive else np.zeros(BINS))


def bin_of(p: np.ndarray) -> np.ndarray:
    """Return the bin of each p, (n,) int64 from 0."""
    return np.minimum((p * BINS).astype(np.int64), BINS - 1)


def cuts(layer: OutputLayer | None) -> np.ndarray:
    """Return the scores between the bins, ascending (19,), the tenth the threshold; none without a threshold."""
    if layer is None or layer.threshold is None:
        return np.empty(0)
    p = np.arange(1, BINS) / BINS
    return np.asarray((np.log(p / (1 - p)) - layer.b) / layer.w)
