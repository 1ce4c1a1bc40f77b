"""Calibration of a matcher's probabilities: the share of positives among pairs of similar probability."""

import numpy as np
import pandas as pd

from allpairs.db.estimate import wilson
from allpairs.db.schema.tables import Evaluation, StoredModel
from allpairs.learner.light.stats.forecast import expit

BINS = 10  # of p, of equal width
COLUMNS = ["p_from", "p_to", "p", "share", "low", "high", "pairs"]


def reliability_table(matcher: StoredModel, evaluation: Evaluation) -> pd.DataFrame:
    """Return one row for each tenth of p that holds pairs: mean p, share of positives, 95% interval.

    With audit labels, these are the worker's estimates. Otherwise they come from the bins of the score histogram, each
    at the p of its midpoint, with Wilson's binomial interval, as if the pairs were a sample of all such pairs. Empty
    where a matcher has no probabilities, or where no positives are known.
    """
    if evaluation.by_audit:
        return pd.DataFrame(evaluation.audit.get("reliability", []), columns=COLUMNS)
    if matcher.w is None or matcher.b is None or matcher.w <= 0 or "positives" not in evaluation.histogram:
        return pd.DataFrame(columns=COLUMNS)
    edges = np.array(evaluation.histogram["edges"], dtype=float)
    positives = np.array(evaluation.histogram["positives"], dtype=float)
    pairs = positives + np.array(evaluation.histogram["negatives"], dtype=float)
    p = expit(matcher.w * (edges[1:] + edges[:-1]) / 2 + matcher.b)
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    n, found, summed = (np.bincount(at, weights, BINS) for weights in (pairs, positives, p * pairs))
    rows = [_row(place, n[place], found[place], summed[place]) for place in range(BINS) if n[place] >= 1]
    return pd.DataFrame(rows, columns=COLUMNS)


def _row(place: int, pairs: float, positives: float, summed: float) -> dict[str, float]:
    low, high = wilson(positives, pairs)
    return {
        "p_from": place / BINS,
        "p_to": (place + 1) / BINS,
        "p": summed / pairs,
        "share": positives / pairs,
        "low": low,
        "high": high,
        "pairs": round(pairs),
    }
