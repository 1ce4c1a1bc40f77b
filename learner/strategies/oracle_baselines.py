"""Baselines that know answers: known pairs, and pairs drawn by class.

Source: Mussmann, Jia and Liang (2020), sections 4.3 and 5.
"""

import numpy as np

from allpairs.db.errors import InputError
from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.pool import GoldPairs, Pool, joined_pairs


def stated(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return n of the positives and given negatives, in random order. Raises InputError without gold."""
    pairs = _gold(pool).known
    return pairs.take(rng.permutation(len(pairs))[:n])


def matched(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return random positives and random negatives in the numbers of another run's batch, n at most, in random order.

    Raises InputError without gold or without those numbers.
    """
    gold = _gold(pool)
    if gold.composition is None:
        raise InputError("stratified-match needs the labels of an uncertainty run: give --match-labels")
    positives, negatives = gold.composition
    drawn_positives = gold.positives.take(rng.permutation(len(gold.positives))[:positives])
    drawn = joined_pairs(drawn_positives, gold.negatives(negatives, rng))
    return drawn.take(rng.permutation(len(drawn))[:n])


def all_positives(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return random negatives and positives alternately until the positives run out, then negatives; n in all.

    For example, WikiQA's 1,040 positives come with 15,600 negatives in a budget of 16,640. Raises InputError without
    gold.
    """
    gold = _gold(pool)
    positives = gold.positives.take(rng.permutation(len(gold.positives))[: n // 2])
    negatives = gold.negatives(n - len(positives), rng)
    places = np.r_[2 * np.arange(len(positives)) + 1, 2 * np.arange(len(negatives))]
    return joined_pairs(positives, negatives).take(np.argsort(places))


def _gold(pool: Pool) -> GoldPairs:
    if pool.background.gold is None:
        raise InputError("this strategy needs known answers, so only a simulation can use it: choose another")
    return pool.background.gold
