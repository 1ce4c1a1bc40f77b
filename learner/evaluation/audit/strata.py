"""Strata of an audit: bands of rank under one model, doubling downward from the top, with exact sizes."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.ranking import Ranking

TOP = 32  # pairs in each of the two highest bands: few, for corpora with few positives (docs/log.md)
POOL_SHARE, SMALLEST_POOL = 0.01, 4_096  # of all pairs; below these ranks labels cannot find anything


@dataclass(frozen=True)
class Bands:
    """The sampled ranks in bands, the highest first; the pairs below the last edge are the tail stratum.

    edges: (h,) lower edges by score, descending; sizes: (h,) pairs in each band; pairs: all pairs, the tail included.
    """

    edges: np.ndarray
    sizes: np.ndarray
    pairs: int

    @property
    def pool(self) -> int:
        return int(self.sizes.sum())

    @property
    def tail(self) -> int:
        return self.pairs - self.pool

    def place(self, scores: np.ndarray) -> np.ndarray:
        """Return the band of each score, (n,) int64; len(edges) for the tail."""
        return np.searchsorted(-self.edges, -np.asarray(scores, dtype=np.float64))


def rank_bands(ranking: Ranking) -> Bands:
    """Return bands of about 32, 32, 64, 128 … pairs, down to about 1 % of all pairs (at least 4,096).

    Edges are edges of the ranking's bins, so the sizes are exact and close to these, and pairs with the same score are
    in the same band.
    """
    floor = min(ranking.pairs, max(POOL_SHARE * ranking.pairs, SMALLEST_POOL))
    goals = [TOP]
    while goals[-1] < floor:
        goals.append(2 * goals[-1])
    edges = np.unique(ranking.score(np.minimum(goals, ranking.pairs)))[::-1]
    reached = np.round(ranking.rank(edges)).astype(np.int64)
    kept = np.diff(reached, prepend=0) > 0
    return Bands(edges[kept], np.diff(reached[kept], prepend=0), ranking.pairs)
