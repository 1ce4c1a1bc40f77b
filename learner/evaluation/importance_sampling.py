"""Figures over all pairs when only some negatives are scored: importance sampling, with an interval on each figure.

Source: Mussmann, Jia and Liang (2020), section 3.1.1 and appendix A.2. A sampled stratum usually shows no false
positive at all, and a bootstrap of it would have no width: these intervals allow for one that the sample missed, in the
stratum whose sampled pairs have the largest weight (Fay and Feuer 1997).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from allpairs.db.estimate import Estimate
from allpairs.learner.evaluation.calibration import BINS, Reliability, bin_of, cuts, reliability
from allpairs.learner.evaluation.exact import AllPairs, bar_edges, score_histogram
from allpairs.learner.metrics.average_precision import Confusion, Curve, curve_from_counts, ranking_figures
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs

DRAWS = 1_000
TAIL = 2.5  # per cent left out at each end of an interval
POINTS = 500  # of a curve with a band


@dataclass(frozen=True)
class Stratum:
    """The negatives of one part of all pairs: their number, and the scores (n,) of those that were scored.

    pairs: these, by row, where they are known.
    """

    name: str
    size: int
    scores: np.ndarray
    pairs: Pairs | None = None

    @property
    def weight(self) -> float:
        """How many negatives each scored one stands for."""
        return self.size / len(self.scores) if len(self.scores) else 0.0

    @property
    def unseen(self) -> int:
        """The number of negatives that were not scored."""
        return self.size - len(self.scores)


def false_positives(strata: Sequence[Stratum], thresholds: np.ndarray) -> np.ndarray:
    """Return the estimated number of negatives that score at least each threshold, (k,) float64; unbiased (A.2)."""
    return sum(
        (stratum.weight * _at_least(stratum.scores, thresholds) for stratum in strata), start=np.zeros(len(thresholds))
    )


def estimate_from_strata(
    positives: np.ndarray,
    strata: Sequence[Stratum],
    method: str,
    rng: np.random.Generator,
    layer: OutputLayer | None = None,
) -> AllPairs:
    """Return the figures with 95 % intervals, and the curve with a pointwise band, of at most 500 points.

    positives: (k,) scores of all positives, at least one. An output layer with a threshold adds the figures at it and
    the calibration error.
    """
    counts = _FixedCounts.of(positives, strata, layer)
    false = false_positives(strata, counts.cuts)
    curve = counts.curve(false)
    values = counts.values(false, counts.p)
    points = curve.spread(POINTS)
    worse, better = _draw_both(counts, strata, points, rng)
    scored = sum(len(stratum.scores) for stratum in strata)
    return AllPairs(
        counts.pairs,
        len(positives),
        {
            name: _estimate(value, worse.values[name], better.values[name], method, scored)
            for name, value in values.items()
        },
        _with_band(curve.take(points), worse.precision, better.precision),
        _histogram(positives, strata, counts.pairs),
        _as_rows(len(positives), strata),
    )


_NOTHING = Reliability(np.zeros(BINS), np.zeros(BINS), np.zeros(BINS))


@dataclass(frozen=True)
class _FixedCounts:
    """The parts of the figures that do not depend on the negatives.

    cuts: (k,) descending scores: those of positives and those between the bins of p; true: (k,) positives that score as
    much; ranked: the positions of the positives' own scores; binned: those of the bins' cuts, ascending in score;
    known: the positives by bin; p, p_error: (20,) mean p of the negatives in each bin, and its standard error.
    """

    cuts: np.ndarray
    true: np.ndarray
    ranked: np.ndarray
    binned: np.ndarray
    known: Reliability
    p: np.ndarray
    p_error: np.ndarray
    positives: int
    pairs: int

    @classmethod
    def of(cls, positives: np.ndarray, strata: Sequence[Stratum], layer: OutputLayer | None) -> "_FixedCounts":
        parting = cuts(layer)
        ascending = np.union1d(positives, parting)
        descending = ascending[::-1]
        layer = layer if len(parting) else None
        return cls(
            descending,
            _at_least(positives, descending),
            np.searchsorted(-descending, -np.unique(positives)[::-1]),
            np.searchsorted(-descending, -parting),
            reliability(layer.probability(positives), True) if layer else _NOTHING,
            *_mean_p(strata, layer),
            len(positives),
            len(positives) + sum(stratum.size for stratum in strata),
        )

    def curve(self, false: np.ndarray) -> Curve:
        ranked = self.ranked
        return curve_from_counts(self.cuts[ranked], self.true[ranked], false[ranked], self.positives)

    def values(self, false: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Return every figure by name, from the false positives (k,) at the cuts and their mean p (20,) by bin."""
        confusion = None
        calibrated = {}
        if len(self.binned):
            threshold = self.binned[BINS // 2 - 1]
            confusion = Confusion(float(self.true[threshold]), float(false[threshold]), self.positives)
            negatives = self.pairs - self.positives
            pairs = -np.diff(np.r_[negatives, false[self.binned], 0.0])
            of_negatives = Reliability(pairs, pairs * p, np.zeros(BINS))
            calibrated = {"calibration_error": (self.known + of_negatives).error}
        return {**ranking_figures(self.curve(false), confusion), "positives": float(self.positives), **calibrated}


def _mean_p(strata: Sequence[Stratum], layer: OutputLayer | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean p of the negatives in each bin and its standard error, (20,) each.

    A bin in which no negative was scored has its middle.
    """
    middles = (np.arange(BINS) + 0.5) / BINS
    if layer is None:
        return middles, np.zeros(BINS)
    by_stratum = [reliability(layer.probability(stratum.scores), False, stratum.weight) for stratum in strata]
    total = sum(by_stratum, start=_NOTHING)
    nonempty = total.pairs > 0
    mean = np.divide(total.p, total.pairs, out=middles, where=nonempty)
    variance = sum((_spread(stratum, layer, mean) for stratum in strata), start=np.zeros(BINS))
    return mean, np.divide(np.sqrt(variance), total.pairs, out=np.zeros(BINS), where=nonempty)


def _spread(stratum: Stratum, layer: OutputLayer, mean: np.ndarray) -> np.ndarray:
    """Return what a stratum's sample adds to the variance of the sum of p in each bin, (20,)."""
    p = layer.probability(stratum.scores)
    place = bin_of(p)
    unseen = stratum.unseen / stratum.size if stratum.size else 0.0
    return stratum.weight**2 * unseen * np.bincount(place, (p - mean[place]) ** 2, BINS)


@dataclass(frozen=True)
class _Sample:
    """A sampled stratum: the buckets between cuts that can hold pairs, their Dirichlet shape, and the unseen pairs.

    positions: (k,) positions of cuts, the first 0; shape: (k + 1,) float64, the last for the pairs below all cuts.
    """

    positions: np.ndarray
    shape: np.ndarray
    unseen: int

    @classmethod
    def of(cls, stratum: Stratum, cuts: np.ndarray, above: float, below: float) -> "_Sample":
        """Return the sample with `above` pairs added above all cuts, and `below` pairs below them."""
        between = np.diff(_at_least(stratum.scores, cuts), prepend=0).astype(np.float64)
        below_all = len(stratum.scores) - between.sum() + below
        between[0] += above
        positions = np.union1d([0], np.flatnonzero(between))
        return cls(positions, np.r_[between[positions], below_all], stratum.unseen)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw the number of unseen pairs in each bucket, (k,) int64."""
        shares = rng.standard_gamma(self.shape)
        return np.asarray(rng.multinomial(self.unseen, shares / shares.sum())[:-1])


@dataclass(frozen=True)
class _Draws:
    """Draws of every figure by name (n,), and of the precision at the points of the curve, (n, points)."""

    values: dict[str, np.ndarray]
    precision: np.ndarray


def _draw_both(
    counts: _FixedCounts, strata: Sequence[Stratum], points: np.ndarray, rng: np.random.Generator
) -> list[_Draws]:
    """Return draws for the worse end of an interval, and for the better one.

    In a sampled stratum the shares of its pairs between the cuts are Dirichlet, and the unseen pairs multinomial. For
    the worse end one extra pair scores above all cuts, in the stratum with the largest weight; for the better end one
    extra pair scores below them, in every stratum. With one sampled stratum, the percentiles at a single cut are then
    Clopper and Pearson's, of Beta(k + 1, n − k) and Beta(k, n − k + 1); with several, the worse one is Fay and Feuer's,
    with gamma for Poisson counts.
    """
    sampled = [stratum for stratum in strata if stratum.unseen]
    scored = sum((_at_least(stratum.scores, counts.cuts) for stratum in strata), start=np.zeros(len(counts.cuts)))
    heaviest = max(sampled, key=lambda stratum: stratum.unseen / len(stratum.scores), default=None)
    worse = [_Sample.of(stratum, counts.cuts, float(stratum is heaviest), 0.0) for stratum in sampled]
    better = [_Sample.of(stratum, counts.cuts, 0.0, 1.0) for stratum in sampled]
    return [_draws(counts, samples, scored, points, rng) for samples in (worse, better)]


def _draws(
    counts: _FixedCounts, samples: list[_Sample], scored: np.ndarray, points: np.ndarray, rng: np.random.Generator
) -> _Draws:
    rows = []
    precision = []
    for _ in range(DRAWS if samples else 1):
        unseen = np.zeros(len(scored))
        for sample in samples:
            unseen[sample.positions] += sample.draw(rng)
        false = scored + np.cumsum(unseen)
        rows.append(counts.values(false, counts.p + counts.p_error * rng.standard_normal(BINS)))
        precision.append(counts.curve(false).precision[points])
    names = set.intersection(*(set(row) for row in rows))
    return _Draws({name: np.array([row[name] for row in rows]) for name in names}, np.array(precision))


def _estimate(value: float, worse: np.ndarray, better: np.ndarray, method: str, scored: int) -> Estimate:
    """Return the value with the outer ends of both draws: more false positives may improve a figure (an error)."""
    low = min(float(np.percentile(draws, TAIL)) for draws in (worse, better))
    high = max(float(np.percentile(draws, 100 - TAIL)) for draws in (worse, better))
    return Estimate(value, min(value, low), max(value, high), method, scored)


def _with_band(curve: Curve, worse: np.ndarray, better: np.ndarray) -> Curve:
    low = np.percentile(worse, TAIL, axis=0)
    high = np.percentile(better, 100 - TAIL, axis=0)
    return replace(curve, low=np.minimum(low, curve.precision), high=np.maximum(high, curve.precision))


def _histogram(positives: np.ndarray, strata: Sequence[Stratum], pairs: int) -> dict[str, list[float] | int]:
    highest = max(float(scores.max()) for scores in (positives, *(stratum.scores for stratum in strata)) if len(scores))
    edges = bar_edges(float(positives.min()), max(1.0001, highest))
    negatives = sum(
        (stratum.weight * np.histogram(stratum.scores, edges)[0] for stratum in strata), start=np.zeros(len(edges) - 1)
    )
    return score_histogram(positives, edges, negatives, pairs)


def _as_rows(positives: int, strata: Sequence[Stratum]) -> list[dict[str, Any]]:
    """Return the contents of each part of all pairs; the positives are a part that was scored completely."""
    known = {"name": "known positives", "size": positives, "sampled": positives, "positives": positives, "weight": 1.0}
    parts = [
        {
            "name": stratum.name,
            "size": stratum.size,
            "sampled": len(stratum.scores),
            "positives": 0,
            "weight": stratum.weight,
        }
        for stratum in strata
    ]
    return [known, *parts]


def _at_least(scores: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """Return how many scores are at least each threshold, (k,) int64."""
    ascending = np.sort(scores)
    return len(scores) - np.searchsorted(ascending, thresholds, side="left")
