"""Estimate figures from weighted labelled pairs (Horvitz and Thompson 1952), with their plain bootstrap."""

import numpy as np

from benchmarks.data.pools import FIGURES, Pool
from benchmarks.quality.oasis_peer import Draws

BOOTSTRAPS = 200


def answer(pool: Pool, edges: np.ndarray, ranks: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Return value, low and high of each figure, (5, 3), from a simple random sample of each stratum.

    edges: (h + 1,) ranks between the strata; ranks: of each stratum the labelled pairs. The interval comes from 200
    bootstrap samples of each stratum's labelled pairs (percentiles). Without a positive every figure is 0.
    """
    positive = [pairs[pool.labels(pairs)] for pairs in ranks]
    found = np.concatenate(positive)
    each = [size / max(len(pairs), 1) for size, pairs in zip(np.diff(edges), ranks, strict=True)]
    weight = np.repeat(each, [len(pairs) for pairs in positive])
    times = np.concatenate([_resampled(len(p), len(r), rng) for p, r in zip(positive, ranks, strict=True)], axis=1)
    value = figures(found, weight[None, :], pool.threshold)[0]
    low, high = np.percentile(figures(found, weight * times, pool.threshold), (2.5, 97.5), axis=0)
    return np.column_stack([value, low, high])


def of_draws(pool: Pool, draws: Draws, f1: np.ndarray) -> np.ndarray:
    """Return value, low and high of each figure, (5, 3), from weighted draws; only F1 has an interval: `f1` (3,)."""
    weight = draws.weight[draws.positive] * pool.pairs / len(draws.weight)
    value = figures(draws.rank[draws.positive], weight[None, :], pool.threshold)[0]
    answer = np.column_stack([value, np.full((len(FIGURES), 2), np.nan)])
    answer[FIGURES.index("f1")] = f1
    return answer


def _resampled(positives: int, labels: int, rng: np.random.Generator) -> np.ndarray:
    """Return how often each labelled positive of a stratum is in each bootstrap sample, (BOOTSTRAPS, positives)."""
    if not positives:
        return np.empty((BOOTSTRAPS, 0))
    chance = np.r_[np.full(positives, 1 / labels), max(0.0, 1 - positives / labels)]
    return rng.multinomial(labels, chance, size=BOOTSTRAPS)[:, :positives]


def figures(ranks: np.ndarray, weight: np.ndarray, threshold: int) -> np.ndarray:
    """Return figures (draws, 5), in FIGURES' order, of positives at `ranks` (k,) that represent `weight` (draws, k).

    A rank is known exactly, as all pairs are ranked: precision there is the weight found over the rank, at most 1. In
    average precision a positive sits in the middle of those it represents, which brings the peers closer to the truth.
    """
    order = np.argsort(ranks, kind="stable")
    rank = ranks[order]
    each = weight[:, order]
    total = each.sum(1)
    if not len(ranks) or not total.any():
        return np.zeros((len(weight), len(FIGURES)))
    total = np.maximum(total, 1e-300)
    found = np.cumsum(each, 1)
    average = (each * np.minimum((found - (each - 1) / 2) / rank, 1.0)).sum(1) / total
    above = np.minimum((each * (rank <= threshold)).sum(1), threshold)
    first = (found >= 0.2 * total[:, None]).argmax(1)
    at_20 = np.minimum(found[np.arange(len(found)), first] / rank[first], 1.0)
    return np.column_stack([average, 2 * above / (threshold + total), at_20, above / total, total])
