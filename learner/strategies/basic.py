"""Strategies: functions of a pool that rank the pairs to label next (Mussmann, Jia and Liang 2020, section 4.2).

A strategy returns at most n pairs, the most useful first; asked for more, it continues the same ranking.
"""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from allpairs.db.domain import HALF_SPREAD_STRATEGY, SEED_STRATEGY, SPREAD_STRATEGY
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.pool import Pool

DEPTH = 40  # times the first batch: so far down lie the pairs of its spread half
Strategy = Callable[[Pool, int, np.random.Generator], Pairs]
GOLDEN = (5**0.5 - 1) / 2  # its multiples, modulo 1, fill the unit interval evenly however many there are


def strategy(name: str) -> Strategy:
    """Return the function of a catalog entry, or of a batch before there is a trained model."""
    if name in UNTRAINED:
        return UNTRAINED[name]
    module, function = STRATEGIES[name].function.split(":")
    chosen: Strategy = getattr(import_module(module), function)
    return chosen


def uncertainty(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return the n candidates whose p is closest to 1/2, the closest first."""
    assert pool.layer is not None  # without a trained model the seed strategy chooses
    logits = np.abs(pool.layer.logit(pool.candidates.score))
    return pool.candidates.take(smallest(logits, n))


def most_similar(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return the n candidates with the highest score, the highest first: retrieval, and the seed batch."""
    return pool.candidates.take(smallest(-pool.candidates.score, n))


def spread(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return n candidates from the whole ranking by score, as many between ranks 10 and 100 as between 100 and 1,000.

    While nobody knows at which score negatives begin, this finds them soon however deep they lie.
    """
    size = len(pool.candidates)
    return _ranked(pool, _spaced(1, size, size, n), n)


def half_spread(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return n candidates, in turn the next most similar one and one from below the first batch's most similar ones.

    The former hold most positives. Where the encoder is so good that they are all positive, the latter hold negatives:
    they lie as far down as forty times the first batch, as many between any rank and twice that rank.

    Where columns tell p before any label, these are in turn the next most uncertain one and a likely match.
    """
    size = len(pool.candidates)
    if pool.layer is not None:
        return _half_likely(pool, pool.layer, n)
    top = max(1, pool.first // 2)
    spaced = _spaced(top, min(size, DEPTH * pool.first), size, n)
    return _ranked(pool, np.column_stack([np.arange(len(spaced)), spaced]).ravel(), n)


def _half_likely(pool: Pool, layer: OutputLayer, n: int) -> Pairs:
    """Return n candidates, in turn the next most uncertain one and one of those above one half, evenly by rank."""
    logits = layer.logit(pool.candidates.score)
    rank = np.empty(len(logits), dtype=np.int64)
    rank[np.argsort(-logits, kind="stable")] = np.arange(len(logits))
    uncertain = rank[smallest(np.abs(logits), n)]
    likely = (np.arange(1, len(uncertain) + 1) * GOLDEN % 1 * (logits > 0).sum()).astype(np.int64)
    return _ranked(pool, np.column_stack([uncertain, likely]).ravel(), n)


def _spaced(start: int, end: int, size: int, n: int) -> np.ndarray:
    """Return ranks, evenly spaced by logarithm from start to end, then others below `size`: at least n, if any."""
    steps = np.arange(1, 8 * n + 1) * GOLDEN % 1
    spaced = (start * (max(end, 1) / start) ** steps).astype(np.int64) - 1
    return np.concatenate([spaced[spaced >= 0], np.arange(min(size, 9 * n))])  # in case the spaced ones are too few


def _ranked(pool: Pool, ranks: np.ndarray, n: int) -> Pairs:
    """Return the candidates of the first n different ranks."""
    ranking = smallest(-pool.candidates.score, len(pool.candidates))
    _, first = np.unique(ranks, return_index=True)
    places = ranks[np.sort(first)]
    return pool.candidates.take(ranking[places[places < len(ranking)][:n]])


def random(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Draw n pairs uniformly from all unlabelled pairs."""
    return pool.draw(n, rng)


def smallest(values: np.ndarray, n: int) -> np.ndarray:
    """Return positions of the n smallest values, ascending, ties by position."""
    n = min(n, len(values))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    cut = np.partition(values, n - 1)[n - 1]
    near = np.nonzero(values <= cut)[0]
    return near[np.argsort(values[near], kind="stable")][:n]


UNTRAINED = {SEED_STRATEGY: most_similar, HALF_SPREAD_STRATEGY: half_spread, SPREAD_STRATEGY: spread}
