"""Exact evaluation over all pairs: every pair is scored once, block by block, and none is stored."""

import operator
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allpairs.db.estimate import Estimate
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.calibration import BINS, Reliability, cuts, reliability
from allpairs.learner.metrics.average_precision import Confusion, Curve, curve_from_counts, ranking_figures
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work
from allpairs.learner.search.exact import as_tensor, blocks, count_pairs, parts_of, without
from allpairs.learner.search.rescored import NOTHING, Rescored

BARS = 60  # of the histogram
AT_ONCE = 65_536  # positives whose vectors are in memory at once
TIE = 1e-6  # float32 products of the same two texts differ by less than this between places in a block
HIGH = 1.0001  # the highest cosine: rounding puts some above 1


@dataclass(frozen=True)
class AllPairs:
    """A scorer's figures over all pairs of the evaluation items, whichever way they were measured."""

    pairs: int
    positives: int | None  # None where they are estimated
    estimates: dict[str, Estimate]
    curve: Curve
    histogram: dict[str, list[float] | int]  # edges, negatives, positives; `below`: pairs under the first edge
    strata: list[dict[str, Any]]  # name, size, sampled, positives, weight of each part of all pairs


def evaluate_exact(
    left: np.ndarray,
    right: np.ndarray,
    positives: np.ndarray,
    symmetric: bool,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
    layer: OutputLayer | None = None,
    tie: float = TIE,
    engine: Engine | None = None,
    rescored: Rescored = NOTHING,
) -> AllPairs | None:
    """Return exact figures over all pairs of `left` and `right`, or None without a positive.

    left, right: (n, d) and (m, d) vectors whose inner product is the score; positives: (k, 2) rows of left and right,
    each pair once, in a symmetric corpus (left and right are the same items) with the first row below the second; tie:
    the score of a pair may differ by less than this from one computation to another. An output layer with a threshold
    adds the figures at it and the calibration error. rescored: pairs of rows of left and right that have another score.
    `progress` is called after each block: raising there stops it.
    """
    if not len(positives):
        return None
    layer = None if layer is None or layer.threshold is None else layer
    queries, corpus = _both(left, right, device)
    rows = torch.from_numpy(np.ascontiguousarray(positives.T)).to(queries.device)
    products = [(queries[x] * corpus[y]).sum(1) for x, y in torch.split(rows, AT_ONCE, dim=1)]
    scores = np.sort(rescored.replace(positives[:, 0], positives[:, 1], torch.cat(products).cpu().numpy()))
    scale = _Scale.of(scores, tie, layer)
    arguments = (left, right, positives, symmetric, device, scale, rescored)
    counts = (engine or default_engine()).map(_counting, arguments, parts_of(len(left)), "evaluate", progress)
    return _measured(scale, reduce(operator.add, counts), count_pairs(len(left), len(right), symmetric))


@dataclass(frozen=True)
class _Scale:
    """The thresholds for counting negatives: the positives' ascending scores, and cuts, edges and floor from them."""

    scores: np.ndarray  # (positives,) float32
    cuts: np.ndarray  # ascending, float32: just below each positive, and the layer's threshold
    edges: np.ndarray  # of the histogram's bars
    floor: float  # pairs are examined one by one only from here up
    layer: OutputLayer | None

    @classmethod
    def of(cls, scores: np.ndarray, tie: float, layer: OutputLayer | None) -> "_Scale":
        """Return the scale of these ascending scores; a negative less than `tie` below a positive counts against it."""
        thresholds = scores - np.float32(tie)
        cut = [] if layer is None else [np.float32(layer.threshold)]
        low = float(thresholds[0])
        edges = bar_edges(low, max(HIGH, float(scores[-1])))
        floor = float(np.min([low, *cuts(layer)]))
        return cls(scores, np.sort(np.r_[thresholds, cut]).astype(np.float32), edges, floor, layer)


@dataclass(frozen=True)
class _Counts:
    """The negatives counted in one pass over pairs: arrays of one number for each bucket, bar and bin."""

    buckets: np.ndarray  # (cuts + 1,) int64
    bars: np.ndarray  # (BARS,) float64
    bins: np.ndarray  # (BINS,) float64, and the sum of p in each; the lowest counts only examined pairs
    p: np.ndarray
    total: float  # the sum of every p

    def __add__(self, addend: "_Counts") -> "_Counts":
        columns = ((getattr(self, field.name), getattr(addend, field.name)) for field in fields(self))
        return _Counts(*(count + added for count, added in columns))

    def at_cuts(self) -> np.ndarray:
        """Return the false positives at each ascending cut."""
        return np.cumsum(self.buckets[::-1])[-2::-1]

    def reliability(self, negatives: int) -> Reliability:
        """Return the bins of all negatives; the lowest one, with nearly all of them, is the total minus the others."""
        bins = self.bins.copy()
        p = self.p.copy()
        bins[0] = negatives - bins[1:].sum()
        p[0] = max(0.0, self.total - p[1:].sum())
        return Reliability(bins, p, np.zeros(BINS))


def _counting(
    left: np.ndarray,
    right: np.ndarray,
    positives: np.ndarray,
    symmetric: bool,
    device: str | torch.device | None,
    scale: _Scale,
    rescored: Rescored,
) -> Work[slice, _Counts]:
    """Return the work that counts the negatives of a part of the left rows."""
    queries, corpus = _both(left, right, device)

    def work(part: slice, progress: Progress) -> _Counts:
        negatives = _Negatives(scale, queries.device)
        for block in without(rescored.blocks(blocks(queries, corpus, symmetric, part)), positives):
            negatives.count(block.scores)
            progress("evaluate", min(1.0, (block.end - part.start) / (part.stop - part.start)))
        return negatives.counts()

    return work


def _both(left: np.ndarray, right: np.ndarray, device: str | torch.device | None) -> tuple[Tensor, Tensor]:
    """Return both as tensors, one tensor if they are one array: a GPU's memory is short, and the way there slow."""
    queries = as_tensor(left, device)
    return queries, queries if right is left else as_tensor(right, device)


class _Negatives:
    """Counts the negatives in one pass over blocks; pairs at minus infinity are skipped.

    Positives are removed from each block, so that rounding can never count one as its own false positive.
    """

    def __init__(self, scale: _Scale, device: torch.device) -> None:
        self.scale = scale
        self.cuts = torch.from_numpy(scale.cuts).to(device)
        self.buckets = torch.zeros(len(scale.cuts) + 1, dtype=torch.long, device=device)
        self.bars = torch.zeros(BARS, dtype=torch.float64, device=device)
        self.bins = torch.zeros(BINS, dtype=torch.float64, device=device)
        self.p = torch.zeros(BINS, dtype=torch.float64, device=device)
        self.total = torch.zeros((), dtype=torch.float64, device=device)  # the sum of every p

    def count(self, scores: Tensor) -> None:
        """Count the block, overwriting it."""
        edges = self.scale.edges
        layer = self.scale.layer
        above = scores[scores >= self.scale.floor]
        self.buckets += torch.bincount(torch.bucketize(above, self.cuts, right=True), minlength=len(self.buckets))
        # bars from 1; the last also holds what lies above it; what lies below the first is in 0, which is none
        bar = (above - float(edges[0])).mul_(BARS / float(edges[-1] - edges[0])).add_(1).clamp_(0, BARS)
        self.bars += torch.bincount(bar.int(), minlength=BARS + 1)[1:]
        if layer is not None:
            p = _probability(above, layer)
            place = (p * BINS).long().clamp_(max=BINS - 1)
            self.bins += torch.bincount(place, minlength=BINS)
            self.p += torch.bincount(place, p, BINS)
            self.total += _probability(scores, layer).sum()

    def counts(self) -> _Counts:
        """Return the counts."""
        buckets, bars, bins, p = (values.cpu().numpy() for values in (self.buckets, self.bars, self.bins, self.p))
        return _Counts(buckets, bars, bins, p, float(self.total))


def _probability(scores: Tensor, layer: OutputLayer) -> Tensor:
    """Compute sigmoid(w·score + b) in place: passes over a block cost time."""
    return torch.add(scores.new_tensor(layer.b), scores, alpha=layer.w, out=scores).sigmoid_()


def _measured(scale: _Scale, counts: _Counts, pairs: int) -> AllPairs:
    """Return the figures from the counts of the negatives of all pairs."""
    scores = scale.scores
    thresholds = scale.cuts
    false = counts.at_cuts()
    layer = scale.layer
    positives = len(scores)
    confusion = None
    values = {}
    if layer is not None:
        place = int(np.searchsorted(thresholds, np.float32(layer.threshold)))
        confusion = Confusion(float((scores >= thresholds[place]).sum()), float(false[place]), positives)
        thresholds = np.delete(thresholds, place)
        false = np.delete(false, place)
        known = reliability(layer.probability(scores), True)
        values["calibration_error"] = (known + counts.reliability(pairs - positives)).error
    curve = _curve(scores, thresholds, false)
    values = {**ranking_figures(curve, confusion), "positives": float(positives), **values}
    return AllPairs(
        pairs,
        positives,
        {name: Estimate(value, value, value, "exact") for name, value in values.items()},
        curve,
        score_histogram(scores, scale.edges, counts.bars, pairs),
        [{"name": "all pairs", "size": pairs, "sampled": pairs, "positives": positives, "weight": 1.0}],
    )


def _curve(scores: np.ndarray, thresholds: np.ndarray, false: np.ndarray) -> Curve:
    """Return the curve at ascending thresholds, from ascending positive scores and the false positives at each."""
    true = len(scores) - np.searchsorted(scores, thresholds[::-1])
    last_of_tie = np.r_[np.diff(true) != 0, True]
    descending = thresholds[::-1].astype(np.float64)
    return curve_from_counts(descending[last_of_tie], true[last_of_tie], false[::-1][last_of_tie], len(scores))


def bar_edges(low: float, high: float = HIGH) -> np.ndarray:
    """Return the edges of equally wide bars from the lowest threshold to the highest score."""
    return np.linspace(low, max(high, low + 1e-3), BARS + 1)


def score_histogram(
    scores: np.ndarray, edges: np.ndarray, negatives: np.ndarray, pairs: int
) -> dict[str, list[float] | int]:
    """Return the histogram as it is stored, from the positives' scores (k,) and the number of negatives in each bar."""
    return {
        "edges": edges.tolist(),
        "negatives": negatives.tolist(),
        "positives": np.histogram(scores, edges)[0].tolist(),
        "below": round(pairs - float(negatives.sum()) - len(scores)),
    }
