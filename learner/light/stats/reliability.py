"""Calibration of probabilities: the share of positives among pairs of similar probability."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from allpairs.db.estimate import wilson
from allpairs.learner.light.stats.forecast import expit

BINS = 10  # of p, of equal width


@dataclass(frozen=True)
class Tenth:
    """The pairs whose p lies in one tenth: the mean of p, and the share of matches with its 95 % interval."""

    p_from: float
    p_to: float
    p: float
    share: float
    low: float
    high: float
    pairs: int


def tenths(p: np.ndarray, positives: np.ndarray, pairs: np.ndarray) -> list[Tenth]:
    """Return each tenth of p that holds pairs, the lowest first, with Wilson's binomial interval.

    p: (n,), one for each group of pairs; positives, pairs: (n,), how many positives and pairs the group has.
    """
    tenth = np.minimum((p * BINS).astype(int), BINS - 1)
    n, hits, summed = (np.bincount(tenth, weights, BINS) for weights in (pairs, positives, p * pairs))
    return [
        Tenth(
            place / BINS,
            (place + 1) / BINS,
            float(summed[place] / n[place]),
            float(hits[place] / n[place]),
            *wilson(float(hits[place]), float(n[place])),
            round(n[place]),
        )
        for place in range(BINS)
        if n[place] >= 1
    ]


def tenths_of_histogram(w: float | None, b: float | None, histogram: Mapping[str, Any]) -> list[Tenth]:
    """Return the tenths of p of a score histogram, whose bins lie at the p of their midpoints.

    The intervals are as if the pairs were a sample of all such pairs. Empty where the output layer gives no
    probabilities, or where no positives are known.
    """
    if w is None or b is None or w <= 0 or "positives" not in histogram:
        return []
    edges = np.array(histogram["edges"], dtype=float)
    positives = np.array(histogram["positives"], dtype=float)
    pairs = positives + np.array(histogram["negatives"], dtype=float)
    return tenths(expit(w * (edges[1:] + edges[:-1]) / 2 + b), positives, pairs)
