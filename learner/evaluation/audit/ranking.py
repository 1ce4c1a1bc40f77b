"""The rank of a score among all pairs: one pass over them, counted in fine bins."""

from dataclasses import dataclass

import numpy as np
import torch

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.search.exact import ROWS, as_tensor, blocks, without
from allpairs.learner.search.rescored import NOTHING, Rescored

BINS = 98_304
TIE = 1e-6  # scores that differ by less are one threshold, as in an exact evaluation
# a cosine, lowered by up to 1 by the hubness correction; no edge of a bin is at 0
LOW = -2.0023
HIGH = 1.001


@dataclass(frozen=True)
class Ranking:
    """All pairs by their score under one model. counts: (BINS,) int64, from the lowest score up."""

    counts: np.ndarray

    @property
    def pairs(self) -> int:
        return int(self.counts.sum())

    def rank(self, scores: np.ndarray, exactly: np.ndarray | None = None) -> np.ndarray:
        """Return the number of pairs with at least each score, (n,) float64, at least 1.

        exactly: (k,) scores of pairs, which are counted one by one, ties with all of their pairs. The other pairs are
        interpolated within a bin.
        """
        ascending = np.sort(np.empty(0) if exactly is None else exactly).astype(np.float64)
        values = np.asarray(scores, dtype=np.float64)
        counted = len(ascending) - np.searchsorted(ascending, values - TIE)
        place = (HIGH - values) / (HIGH - LOW) * BINS
        return np.maximum(np.interp(place, np.arange(BINS + 1), self._others(ascending)) + counted, 1.0)

    def _others(self, scores: np.ndarray) -> np.ndarray:
        """Return the pairs besides those with these scores, from the highest bin down, cumulated, (BINS + 1,)."""
        bins = np.histogram(scores, BINS, (LOW, HIGH))[0]
        from_top = np.r_[0, np.cumsum((self.counts - bins)[::-1])]
        # a score at a bin's edge may be counted in the next bin: never more pairs than further down, never fewer than 0
        return np.maximum(np.minimum.accumulate(from_top[::-1])[::-1], 0)

    def score(self, ranks: np.ndarray) -> np.ndarray:
        """Return the highest score at which at least that many pairs are reached, (n,) float64: a bin's lower edge."""
        from_top = np.cumsum(self.counts[::-1])
        return HIGH - (np.searchsorted(from_top, ranks) + 1) * (HIGH - LOW) / BINS

    def histogram(self, bins: int, lowest: float) -> tuple[np.ndarray, np.ndarray]:
        """Return edges (bins + 1,) from about `lowest` to the highest score, and the pairs between them (bins,)."""
        edges = np.linspace(LOW, HIGH, BINS + 1)
        first = int(np.clip(np.searchsorted(edges, lowest, side="right") - 1, 0, BINS - 1))
        last = int(np.max(np.nonzero(self.counts)[0], initial=first)) + 1
        cuts = np.unique(np.linspace(first, last, bins + 1).round().astype(np.int64))
        return edges[cuts], np.diff(np.r_[0, np.cumsum(self.counts)][cuts])


def rank_all(
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    progress: Progress = no_progress,
    known: np.ndarray | None = None,
    rescored: Rescored = NOTHING,
) -> Ranking:
    """Return the ranking of all pairs of `left` (n, d) and `right` (m, d): unit vectors, with extra columns or not.

    known: (k, 2) rows of pairs to leave out; rescored: pairs of rows that have another score than their product.
    """
    queries = as_tensor(left)
    corpus = as_tensor(right)
    counts = np.zeros(BINS, dtype=np.int64)
    for block in without(rescored.blocks(blocks(queries, corpus, symmetric)), known):
        # non-existent pairs are at minus infinity, outside the bins; a block's float32 counts are exact
        counts += torch.histc(block.scores, BINS, LOW, HIGH).cpu().numpy().astype(np.int64)
        progress("rank", min(1.0, (block.row + ROWS) / len(queries)))
    return Ranking(counts)
