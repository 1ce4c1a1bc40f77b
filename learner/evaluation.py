"""Exact evaluation over all pairs: every pair is scored once, block by block, and none is kept."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from db.domain import Estimate, Progress, no_progress
from learner.metrics import Curve, average_precision, curve_from_counts, precision_at_recall
from learner.search import ROWS, as_tensor, blocks, count_pairs, without

BINS = 60
TIE = 1e-6  # float32 products of the same two texts differ by less than this, with their place in a block


@dataclass(frozen=True)
class AllPairs:
    """What a scorer does over all pairs of the evaluation items."""

    pairs: int
    positives: int
    estimates: dict[str, Estimate]
    curve: Curve
    histogram: dict[str, list[float] | int]  # edges, negatives, positives; `below`: pairs under the first edge


def evaluate_exact(
    left: np.ndarray,
    right: np.ndarray,
    positives: np.ndarray,
    symmetric: bool,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
) -> AllPairs | None:
    """Exact figures over all pairs of `left` and `right`; nothing (None) where there is no positive.

    left, right: (n, d) and (m, d) unit vectors; positives: (k, 2) rows of left and right, each pair once, in a
    symmetric corpus (left is right) with the first row below the second.
    """
    if not len(positives):
        return None
    queries, corpus = as_tensor(left, device), as_tensor(right, device)
    scores = torch.sort((queries[positives[:, 0]] * corpus[positives[:, 1]]).sum(1)).values
    thresholds = scores - TIE  # a negative that ties with a positive counts against it
    false, histogram = _count_negatives(queries, corpus, positives, thresholds, symmetric, progress)
    pairs = count_pairs(len(left), len(right), symmetric)
    positive, lowered = scores.cpu().numpy(), thresholds.cpu().numpy()
    curve = _curve(positive, lowered, false)
    bins = _as_histogram(positive, float(lowered[0]), histogram, pairs)
    return AllPairs(pairs, len(positives), _estimates(curve), curve, bins)


def _estimates(curve: Curve) -> dict[str, Estimate]:
    values = {
        "average_precision": average_precision(curve),
        "precision_at_recall_20": precision_at_recall(curve, 0.2),
    }
    return {name: Estimate(value, value, value, "exact") for name, value in values.items()}


def _count_negatives(
    left: Tensor, right: Tensor, positives: np.ndarray, thresholds: Tensor, symmetric: bool, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """Negatives in each bucket between ascending thresholds (the last bucket is above all), and their histogram.

    Positives are struck out of each block, so that rounding can never count one as its own false positive.
    """
    buckets = torch.zeros(len(thresholds) + 1, dtype=torch.long, device=left.device)
    histogram = torch.zeros(BINS, device=left.device, dtype=torch.float64)
    floor = float(thresholds[0])
    edges = _edges(floor)
    for block in without(blocks(left, right, symmetric), positives):
        scores = block.scores[block.scores >= floor]
        buckets += torch.bincount(torch.bucketize(scores, thresholds, right=True), minlength=len(buckets))
        histogram += torch.histc(scores, BINS, edges[0], edges[-1])
        progress("evaluate", min(1.0, (block.row + ROWS) / len(left)))
    return buckets.cpu().numpy(), histogram.cpu().numpy()


def _curve(scores: np.ndarray, thresholds: np.ndarray, buckets: np.ndarray) -> Curve:
    """The curve at ascending thresholds, from ascending positive scores and the negatives in the buckets above each."""
    false = np.cumsum(buckets[::-1])[:-1]  # at the i-th highest threshold: all negatives that score at least as much
    true = len(scores) - np.searchsorted(scores, thresholds[::-1])
    last_of_tie = np.r_[np.diff(true) != 0, True]
    descending = thresholds[::-1].astype(np.float64)
    return curve_from_counts(descending[last_of_tie], true[last_of_tie], false[last_of_tie], len(scores))


def _edges(low: float) -> np.ndarray:
    """Edges of equally wide bins from the lowest threshold to 1 (rounding may put a cosine a hair above)."""
    return np.linspace(low, max(1.0001, low + 1e-3), BINS + 1)


def _as_histogram(scores: np.ndarray, low: float, negatives: np.ndarray, pairs: int) -> dict[str, list[float] | int]:
    edges = _edges(low)
    positive = np.histogram(scores, edges)[0]
    return {
        "edges": edges.tolist(),
        "negatives": negatives.tolist(),
        "positives": positive.tolist(),
        "below": int(pairs - negatives.sum() - len(scores)),
    }
