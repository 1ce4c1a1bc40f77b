"""Strata of an audit: bands of rank under one model, doubling from the top down to the last pair, with exact sizes."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.ranking import Ranking

TOP = 32  # pairs in each of the two highest bands: few, for corpora with few positives (docs/log.md)
TOP_SHARE, SMALLEST_TOP = 0.01, 4_096  # of all pairs: the bands down to here are the top


@dataclass(frozen=True)
class Bands:
    """All pairs in bands, the highest first.

    edges: (h,) lower edges by score, descending; sizes: (h,) pairs in each band; top: how many of the bands hold about
    the top 1 % of all pairs.
    """

    edges: np.ndarray
    sizes: np.ndarray
    top: int

    @property
    def pairs(self) -> int:
        """All pairs."""
        return int(self.sizes.sum())

    @property
    def top_pairs(self) -> int:
        """The pairs of the top bands."""
        return int(self.sizes[: self.top].sum())

    def place(self, scores: np.ndarray) -> np.ndarray:
        """Return the band of each score, (n,) int64."""
        at = np.searchsorted(-self.edges, -np.asarray(scores, dtype=np.float64))
        return np.minimum(at, len(self.edges) - 1)  # guards against rounding at the lowest edge


def rank_bands(ranking: Ranking) -> Bands:
    """Return bands of about 32, 32, 64, 128 … pairs, down to the last pair.

    Edges are edges of the ranking's bins, so the sizes are exact and close to these, and pairs with the same score are
    in the same band.
    """
    goals = [TOP]
    while goals[-1] < ranking.pairs:
        goals.append(2 * goals[-1])
    edges = np.unique(ranking.score(np.minimum(goals, ranking.pairs)))[::-1]
    reached = np.round(ranking.rank(edges)).astype(np.int64)
    kept = np.diff(reached, prepend=0) > 0
    ends = reached[kept]
    floor = min(ranking.pairs, max(TOP_SHARE * ranking.pairs, SMALLEST_TOP))
    return Bands(edges[kept], np.diff(ends, prepend=0), int(np.searchsorted(ends, floor)) + 1)
