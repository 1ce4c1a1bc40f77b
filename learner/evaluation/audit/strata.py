"""Strata of an audit: bands of rank under one model, down to the last pair; deep ones in two, by lexical similarity.

A band of many pairs and few positives is divided: its first stratum has the 1/64 of its pairs with the highest lexical
similarity, where positives that the model ranks low are often found. Sizes are exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.audit.ranking import Ranking
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.search.exact import ROWS, as_tensor

TOP = 32  # pairs in each of the two highest bands: few, for corpora with few positives (docs/log.md)
TOP_SHARE = 0.01  # of all pairs: the bands down to this rank are the top, and double; below it they grow
SMALLEST_TOP = 4_096  # ranks that the top has at least
BELOW = 4  # this many times from end to end
WHOLE = 16_384  # pairs: a band that begins above this rank is one stratum
FIRST = 1 / 64  # share of a divided band in its first stratum
# of a band: it is one stratum where ties allow no first one between these
LEAST = 1 / 512
MOST = 1 / 8
BINS = 4_096  # of similarities from -1 to 1


@dataclass(frozen=True)
class Strata:
    """All pairs in strata, the highest first.

    edges: (b,) lower edges of the bands by score, descending; cuts: (b,) the lowest lexical similarity of a band's
    first stratum, NaN where the band is one stratum; sizes: (h,) pairs in each stratum; top: how many of the strata
    hold about the top 1 % of all pairs.
    """

    edges: np.ndarray
    cuts: np.ndarray
    sizes: np.ndarray
    top: int

    @property
    def pairs(self) -> int:
        """All pairs."""
        return int(self.sizes.sum())

    @property
    def top_pairs(self) -> int:
        """The pairs of the top strata."""
        return int(self.sizes[: self.top].sum())

    @property
    def floor(self) -> float:
        """The lowest score of the top."""
        return float(self.edges[self.band[self.top - 1]])

    @cached_property
    def band(self) -> np.ndarray:
        """The band of each stratum, (h,) int64."""
        return np.repeat(np.arange(len(self.edges)), 1 + ~np.isnan(self.cuts))

    @property
    def divided(self) -> bool:
        """Whether any band is two strata."""
        return not np.isnan(self.cuts).all()

    def place(self, scores: np.ndarray, similarities: np.ndarray | None = None) -> np.ndarray:
        """Return the stratum of each pair, (n,) int64, by its score and lexical similarity (n,).

        Without similarities, which only divided bands need, that is the band's first stratum.
        """
        place = np.searchsorted(-self.edges, -np.asarray(scores, dtype=np.float64))
        band = np.minimum(place, len(self.edges) - 1)  # guards against rounding at the lowest edge
        first = np.searchsorted(self.band, band)
        return first if similarities is None else first + (np.asarray(similarities) < self.cuts[band])


def rank_bands(ranking: Ranking) -> Strata:
    """Return bands of about 32, 32, 64, 128 … pairs, and larger ones below the top, down to the last pair.

    Edges are edges of the ranking's bins, so the sizes are exact and close to these, and pairs with the same score are
    in the same band.
    """
    edges = np.unique(ranking.score(np.array(list(band_ends(ranking.pairs)))))[::-1]
    reached = np.round(ranking.rank(edges)).astype(np.int64)
    nonempty = np.diff(reached, prepend=0) > 0
    ends = reached[nonempty]
    top = int(np.searchsorted(ends, least_top(ranking.pairs))) + 1
    return Strata(edges[nonempty], np.full(len(ends), np.nan), np.diff(ends, prepend=0), top)


def least_top(pairs: int) -> float:
    """Return the rank that the top reaches at least."""
    return min(pairs, max(TOP_SHARE * pairs, SMALLEST_TOP))


def band_ends(pairs: int) -> Iterator[int]:
    """Yield the ranks where bands end. No last band is left that is much smaller than the one above it."""
    end = TOP
    floor = least_top(pairs)
    while end < pairs:
        yield end
        end *= 2 if end < floor else BELOW
        end = pairs if end > floor and 3 * end > 2 * pairs else end
    yield pairs


def divide(bands: Strata, sides: Sides, progress: Progress = no_progress) -> Strata:
    """Return the strata with each deep band in two, in one pass over all pairs; unchanged where no texts are known."""
    ends = np.cumsum(bands.sizes)
    deep = ends - bands.sizes >= WHOLE
    if sides.lexical is None or not deep.any():
        return bands
    counts = count_similarities(bands, sides, progress)
    cuts = bands.cuts.copy()
    sizes = []
    top = 0
    for band, size in enumerate(bands.sizes.tolist()):
        bin_, first = _cut(counts[band])
        parts = [size]
        if deep[band] and LEAST <= first / size <= MOST:
            cuts[band] = 2 * bin_ / BINS - 1
            parts = [first, size - first]
        sizes += parts
        top += len(parts) * (band < bands.top)
    return replace(bands, cuts=cuts, sizes=np.array(sizes, dtype=np.int64), top=top)


def _cut(counts: np.ndarray) -> tuple[int, int]:
    """Return the bin from which on there are about 1/64 of the pairs, and how many; counts: (BINS,) by similarity."""
    above = np.cumsum(counts[::-1])[::-1]
    goal = np.log(max(FIRST * above[0], 1.0))
    bin_ = int(np.abs(np.log(np.maximum(above, 1e-9)) - goal).argmin())
    return bin_, int(above[bin_])


def count_similarities(bands: Strata, sides: Sides, progress: Progress = no_progress) -> np.ndarray:
    """Return how many pairs of each band have each lexical similarity, (b, BINS) int64. The texts are known."""
    assert sides.lexical is not None
    left, right = map(as_tensor, sides.lexical)
    edges = as_tensor(bands.edges[::-1])
    counts = np.zeros(len(edges) * BINS, dtype=np.int64)
    for block in sides.blocks():
        columns = slice(block.column, block.column + block.scores.shape[1])
        similarity = left[block.row : block.end] @ right[columns].T
        counts += torch.bincount(_bins(block.scores, similarity, edges), minlength=len(counts)).cpu().numpy()
        progress("divide", min(1.0, (block.row + ROWS) / len(left)))
    return counts.reshape(-1, BINS)


def _bins(scores: Tensor, similarity: Tensor, edges: Tensor) -> Tensor:
    """Return band · BINS + bin of similarity for each pair that exists; edges: ascending."""
    exists = scores > -torch.inf
    band = (len(edges) - torch.bucketize(scores[exists], edges, right=True)).clamp_(max=len(edges) - 1)
    bins = ((similarity[exists] + 1) * (BINS / 2)).long().clamp_(0, BINS - 1)
    return band.mul_(BINS).add_(bins)
