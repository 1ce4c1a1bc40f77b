"""How reliable a model's probabilities are, from audit labels: the share of positives in each tenth of p."""

from typing import Any

import numpy as np

from allpairs.learner.evaluation.audit.figures import TAILS, PositivesByRank
from allpairs.learner.evaluation.audit.measure import View
from allpairs.learner.evaluation.audit.ranking import BINS, HIGH, LOW, Ranking
from allpairs.learner.models.output_layer import OutputLayer

TENTHS = np.arange(1, 10) / 10  # the probabilities between them


def by_tenth(
    by_rank: PositivesByRank, view: View, layer: OutputLayer, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return one row for each tenth of p that holds pairs, the lowest first; none where the score tells nothing.

    A row has p_from, p_to, mean p, share of positives with the 95 % interval low, high, and pairs.
    """
    if layer.w <= 0:
        return []
    pairs_in_all = view.ranking.pairs
    scores = (np.log(TENTHS / (1 - TENTHS)) - layer.b)[::-1] / layer.w
    ranks = np.r_[0.0, view.rank(scores), float(pairs_in_all)]
    ranks = np.maximum.accumulate(np.minimum(ranks, pairs_in_all))
    share = shares_between(by_rank, ranks, rng)
    p = _mean_p(view.ranking, layer)
    low, high = np.percentile(share, TAILS, axis=0)
    edges = np.r_[0.0, TENTHS, 1.0]
    return [
        {
            "p_from": float(edges[9 - place]),
            "p_to": float(edges[10 - place]),
            "p": float(p[9 - place]),
            "share": float(share[:, place].mean()),
            "low": float(low[place]),
            "high": float(high[place]),
            "pairs": int(pairs),
        }
        for place, pairs in reversed(list(enumerate(np.diff(ranks).round())))
        if pairs >= 1 and np.isfinite(p[9 - place])
    ]


def shares_between(by_rank: PositivesByRank, ranks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the share of positives between neighbouring ranks (k + 1,), ascending from 0, (draws, k)."""
    down_to = np.stack(
        [by_rank.until(rank, rng) if rank else np.zeros(len(by_rank.cumulative)) for rank in ranks], axis=1
    )
    between = np.diff(np.maximum.accumulate(down_to, axis=1), axis=1)
    return np.clip(between / np.maximum(np.diff(ranks), 1e-9), 0.0, 1.0)


def _mean_p(ranking: Ranking, layer: OutputLayer) -> np.ndarray:
    """Return the mean p of the pairs in each tenth, the lowest first, (10,); NaN for an empty tenth."""
    middles = LOW + (np.arange(BINS) + 0.5) * (HIGH - LOW) / BINS
    p = layer.probability(middles)
    tenth = np.minimum((p * 10).astype(np.int64), 9)
    pairs = np.bincount(tenth, ranking.counts, 10)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(tenth, ranking.counts * p, 10) / np.where(pairs > 0, pairs, np.nan))
