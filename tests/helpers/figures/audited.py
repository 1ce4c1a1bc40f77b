"""Populations for tests of audits: vectors with every pair's score, and pools given by the ranks of their positives."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from allpairs.learner.evaluation.audit.ranking import BINS, HIGH, LOW, Ranking
from allpairs.learner.evaluation.audit.sample import Sample
from allpairs.learner.evaluation.audit.sides import Sides

WIDTH = (HIGH - LOW) / BINS  # of a ranking's bin


def unit_vectors(n: int, seed: int = 0, d: int = 8) -> np.ndarray:
    """Return (n, d) float32 of length 1, uniform over directions."""
    made = np.random.default_rng(seed).standard_normal((n, d))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def make_sides(symmetric: bool, n: int = 70, m: int = 50, seed: int = 0) -> Sides:
    """Return n left items; the right side is the same or m others. Ids differ from rows, so mix-ups show."""
    left = unit_vectors(n, seed)
    right = left if symmetric else unit_vectors(m, seed + 1_000)
    ids = 1_000 + 3 * np.arange(n)
    return Sides(left, right, ids, ids if symmetric else 9_000 + 2 * np.arange(m), symmetric)


def all_pairs(sides: Sides) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows, columns and scores of all pairs, one by one."""
    n, m = len(sides.left), len(sides.right)
    rows, columns = np.triu_indices(n, 1) if sides.symmetric else np.indices((n, m)).reshape(2, -1)
    return rows, columns, (sides.left @ sides.right.T)[rows, columns]


def ranking_of(bins: np.ndarray) -> tuple[Ranking, np.ndarray]:
    """Return the ranking of pairs in these bins (n,), from 0 at the top, and their scores: the bins' middles."""
    counts = np.bincount(BINS - 1 - bins, minlength=BINS).astype(np.int64)
    return Ranking(counts), HIGH - (bins + 0.5) * WIDTH


@dataclass(frozen=True)
class Pool:
    """A pool of strata by rank. sizes: (h,) pairs in each; positives: ascending ranks, from 1, of all its positives."""

    sizes: np.ndarray
    positives: np.ndarray

    def draw(self, labels: np.ndarray, rng: np.random.Generator) -> tuple[Sample, np.ndarray]:
        """Draw so many labelled pairs of each stratum; return the sample and their ranks."""
        drawn = np.minimum(labels, self.sizes)
        ends = np.cumsum(self.sizes)
        ranks = np.concatenate([
            1 + end - size + rng.choice(size, n, replace=False)
            for end, size, n in zip(ends, self.sizes, drawn, strict=True)
        ])  # fmt: skip
        stratum = np.repeat(np.arange(len(self.sizes)), drawn)
        weight = (self.sizes / np.maximum(drawn, 1))[stratum]
        sample = Sample(stratum, np.isin(ranks, self.positives), weight, self.sizes)
        return sample, ranks.astype(np.float64)

    def truth(self, threshold_rank: int) -> dict[str, float]:
        """Return the pool's figures with every pair labelled."""
        found = np.arange(1, len(self.positives) + 1)
        precision = found / self.positives
        true = int((self.positives <= threshold_rank).sum())
        return {
            "average_precision": float(precision.mean()),
            "precision_at_recall_20": float(precision[int(np.ceil(0.2 * len(found))) - 1]),
            "positives": float(len(found)),
            "precision": true / threshold_rank,
            "recall": true / len(found),
            "f1": 2 * true / (len(found) + threshold_rank),
        }


def doubling(floor: int, top: int = 128) -> np.ndarray:
    """Return sizes of strata, each as large as all above it together, down to at least `floor` pairs."""
    sizes = [top]
    while sum(sizes) < floor:
        sizes.append(sum(sizes))
    return np.array(sizes)


def normal_pool(
    mean: float, deviation: float, rng: np.random.Generator, pairs: int = 10**8, positives: int = 1_000
) -> Pool:
    """Return all pairs down to the last: negatives score N(0, 1), positives N(mean, deviation)."""
    scores = np.sort(rng.normal(mean, deviation, positives))[::-1]
    above = np.cumsum(rng.poisson(pairs * np.diff(norm.sf(scores), prepend=0.0)))
    ranks = above + np.arange(1, positives + 1)
    sizes = doubling(pairs)
    sizes[-1] -= sizes.sum() - pairs
    return Pool(sizes, ranks)
