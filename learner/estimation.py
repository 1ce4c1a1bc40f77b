"""Figures over all pairs when only some negatives are scored: importance sampling, with an interval on each figure.

Source: paper 004, section 3.1.1 and appendix A.2. A sampled stratum usually shows no false positive at all, and a
bootstrap of it would have no width: the intervals here reckon with one that the sample missed (Clopper–Pearson).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from db.domain import Estimate
from learner.metrics import Curve, average_precision, curve_from_counts, precision_at_recall

DRAWS = 1_000
TAIL = 2.5  # per cent left out at each end of an interval
FIGURES: dict[str, Callable[[Curve], float]] = {
    "average_precision": average_precision,
    "precision_at_recall_20": lambda curve: precision_at_recall(curve, 0.2),
}


@dataclass(frozen=True)
class Stratum:
    """The negatives of one part of all pairs: how many there are, and the scores (n,) of those that were looked at."""

    name: str
    size: int
    scores: np.ndarray

    @property
    def weight(self) -> float:
        """How many negatives each scored one stands for."""
        return self.size / len(self.scores) if len(self.scores) else 0.0

    @property
    def enumerated(self) -> bool:
        return len(self.scores) >= self.size


def false_positives(strata: Sequence[Stratum], thresholds: np.ndarray) -> np.ndarray:
    """The estimated number of negatives that score at least each threshold, (k,) float64; unbiased (A.2)."""
    return sum((one.weight * _at_least(one.scores, thresholds) for one in strata), start=np.zeros(len(thresholds)))


def estimate(
    positives: np.ndarray, strata: Sequence[Stratum], method: str, rng: np.random.Generator
) -> tuple[dict[str, Estimate], Curve]:
    """The figures by name with 95 % intervals, and the curve. positives: (k,) scores of all positives, at least one."""
    thresholds, counts = np.unique(-positives, return_counts=True)
    thresholds, true = -thresholds, np.cumsum(counts)  # descending
    curve = curve_from_counts(thresholds, true, false_positives(strata, thresholds), len(positives))
    worst = best = [curve]
    if not all(stratum.enumerated for stratum in strata):
        hits = [_at_least(stratum.scores, thresholds) for stratum in strata]

        def draw(hidden: float) -> Curve:
            false = _draw(strata, hits, rng, hidden)
            return curve_from_counts(thresholds, true, false, len(positives))

        worst, best = ([draw(hidden) for _ in range(DRAWS)] for hidden in (1.0, 0.0))
    scored = sum(len(stratum.scores) for stratum in strata)
    return {name: _estimate(figure, curve, worst, best, method, scored) for name, figure in FIGURES.items()}, curve


def _estimate(
    figure: Callable[[Curve], float], curve: Curve, worst: list[Curve], best: list[Curve], method: str, scored: int
) -> Estimate:
    value = figure(curve)
    low = float(np.percentile([figure(draw) for draw in worst], TAIL))
    high = float(np.percentile([figure(draw) for draw in best], 100 - TAIL))
    return Estimate(value, min(value, low), max(value, high), method, scored)


def _draw(strata: Sequence[Stratum], hits: list[np.ndarray], rng: np.random.Generator, hidden: float) -> np.ndarray:
    """One draw of the false positives (k,) at descending thresholds; hits: those in the sample of each stratum, (k,).

    In a sampled stratum the shares of its pairs between the thresholds are Dirichlet, with `hidden` pairs (1 or 0)
    added above all thresholds and the rest of one pair below. At each single threshold the upper and the lower
    percentile are then Clopper and Pearson's, of Beta(k + 1, n − k) and Beta(k, n − k + 1).
    """
    total = np.zeros(len(hits[0]))
    for stratum, found in zip(strata, hits, strict=True):
        if stratum.enumerated:
            total += found
            continue
        between = np.diff(found, prepend=0).astype(np.float64)
        between[0] += hidden
        below = len(stratum.scores) - found[-1] + 1 - hidden
        gamma = np.asarray(rng.standard_gamma(np.r_[between, below]))
        total += stratum.size * np.cumsum(gamma[:-1]) / gamma.sum()
    return total


def _at_least(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many scores are at least each threshold, (k,) int64."""
    ascending = np.sort(scores)
    return len(scores) - np.searchsorted(ascending, thresholds, side="left")
