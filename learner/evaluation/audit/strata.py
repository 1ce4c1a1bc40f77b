"""Strata of an audit: bands of rank under one model, doubling downward from the top, with exact sizes."""

from dataclasses import dataclass

import numpy as np

from learner.evaluation.audit.ranking import Ranking

TOP = 32  # pairs in each of the two highest bands: few, for corpora with few positives (docs/log.md)
POOL_SHARE, SMALLEST_POOL = 0.01, 4_096  # of all pairs; below the pool labels cannot find anything


@dataclass(frozen=True)
class Bands:
    """The audited pool cut into bands, the highest first; what lies below the last edge is the far stratum.

    edges: (h,) lower edges by score, descending; sizes: (h,) pairs in each band; pairs: all pairs, the far ones too.
    """

    edges: np.ndarray
    sizes: np.ndarray
    pairs: int

    @property
    def pool(self) -> int:
        return int(self.sizes.sum())

    @property
    def far(self) -> int:
        return self.pairs - self.pool

    def place(self, scores: np.ndarray) -> np.ndarray:
        """The band of each score, (n,) int64; len(edges) where it lies below the pool."""
        return np.searchsorted(-self.edges, -np.asarray(scores, dtype=np.float64))


def rank_bands(ranking: Ranking) -> Bands:
    """Bands of about 32, 32, 64, 128 … pairs, down to about 1 % of all pairs (at least 4,096).

    Edges lie where the ranking's bins do, so the sizes are exact and near those goals, and pairs with one score are in
    one band.
    """
    floor = min(ranking.pairs, max(POOL_SHARE * ranking.pairs, SMALLEST_POOL))
    goals = [TOP]
    while goals[-1] < floor:
        goals.append(2 * goals[-1])
    edges = np.unique(ranking.score(np.minimum(goals, ranking.pairs)))[::-1]
    reached = np.round(ranking.rank(edges)).astype(np.int64)
    kept = np.diff(reached, prepend=0) > 0
    return Bands(edges[kept], np.diff(reached[kept], prepend=0), ranking.pairs)
