"""Strategies: functions of a pool that choose the pairs to label next (paper 004, section 4.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from learner.catalog import STRATEGIES
from learner.output_layer import OutputLayer
from learner.search import Pairs


@dataclass(frozen=True)
class Pool:
    """What a strategy may choose from, and what it may know.

    candidates: unlabelled pairs found by nearest-neighbour search, each once; draw(n, rng): n distinct pairs drawn
    uniformly from all unlabelled pairs; layer: the newest output layer.
    """

    candidates: Pairs
    layer: OutputLayer
    draw: Callable[[int, np.random.Generator], Pairs]


Strategy = Callable[[Pool, int, np.random.Generator], Pairs]


def strategy(name: str) -> Strategy:
    """The function of a catalog entry."""
    module, function = STRATEGIES[name].function.split(":")
    found: Strategy = getattr(import_module(module), function)
    return found


def uncertainty(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """The n candidates whose p is closest to 1/2, the closest first."""
    logits = np.abs(pool.layer.logit(pool.candidates.score))
    return pool.candidates.take(smallest(logits, n))


def adaptive_retrieval(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """The n candidates with the highest score, the highest first."""
    return most_similar(pool.candidates, n)


def random(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """n pairs drawn uniformly from all unlabelled pairs."""
    return pool.draw(n, rng)


def most_similar(candidates: Pairs, n: int) -> Pairs:
    """The n candidates with the highest score, the highest first: the seed batch."""
    return candidates.take(smallest(-candidates.score, n))


def smallest(values: np.ndarray, n: int) -> np.ndarray:
    """Positions of the n smallest values, ascending, ties by position."""
    n = min(n, len(values))
    if n == 0:
        return np.empty(0, dtype=np.int64)
    cut = np.partition(values, n - 1)[n - 1]
    near = np.nonzero(values <= cut)[0]
    return near[np.argsort(values[near], kind="stable")][:n]
