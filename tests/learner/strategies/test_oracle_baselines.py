"""Baselines that know answers: their classes and numbers, as in the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.nearest import Near
from allpairs.learner.strategies.oracle_baselines import all_positives, matched, stated
from allpairs.learner.strategies.pool import Background, GoldPairs, Pool, draw_training_pairs, gold_of

LEFT, RIGHT = 40, 30
POSITIVES = np.array([(i, LEFT + i % RIGHT) for i in range(LEFT)])
# Of the given negatives one is a positive by closure, and one of an evaluation item.
NEGATIVES = [(0, LEFT + 1), (1, LEFT + 2), (2, LEFT + 2), (39, LEFT)]
STATED = [(*pair, 1) for pair in POSITIVES.tolist()] + [(*pair, 0) for pair in NEGATIVES]
DATASET = make_dataset(
    [""] * (LEFT + RIGHT), ["left"] * LEFT + ["right"] * RIGHT,
    ["train"] * 30 + ["evaluation"] * 10 + ["both"] * RIGHT, False, POSITIVES, STATED,
)  # fmt: skip
NOTHING = np.empty(0, dtype=np.int64)
TRAIN_POSITIVES = {tuple(pair) for pair in POSITIVES[:30].tolist()}


def pool_of(gold: GoldPairs) -> Pool:
    def search() -> Near:
        raise AssertionError("searched")

    return Pool(search, OutputLayer(1, 0), lambda n, rng: draw_training_pairs(DATASET, NOTHING, n, rng), 40,
                Background(gold=gold))  # fmt: skip


def as_list(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def classes(pairs: Pairs) -> list[bool]:
    return [pair in TRAIN_POSITIVES for pair in as_list(pairs)]


def test_stated_pairs_are_training_positives_and_negatives() -> None:
    pool, rng = pool_of(gold_of(DATASET, NOTHING)), np.random.default_rng(0)
    whole = as_list(stated(pool, 1_000, rng))
    assert set(whole) == TRAIN_POSITIVES | {(0, LEFT + 1), (1, LEFT + 2)}
    assert len(whole) == 32
    assert as_list(stated(pool, 8, rng)) != as_list(stated(pool, 8, rng))


def test_known_pairs_are_no_longer_stated() -> None:
    known = DATASET.keys(*np.array([(0, LEFT), (0, LEFT + 1)]).T)
    assert len(stated(pool_of(gold_of(DATASET, known)), 1_000, np.random.default_rng(0))) == 30


def test_a_matched_batch_has_the_classes_of_the_other_one() -> None:
    drawn = matched(pool_of(gold_of(DATASET, NOTHING, (7, 13))), 20, np.random.default_rng(0))
    assert (sum(classes(drawn)), len(set(as_list(drawn)))) == (7, 20)
    assert 0 < sum(classes(drawn)[:10]) < 7


@given(st.integers(0, 870))
def test_negatives_are_checked_against_all_positives(n: int) -> None:
    gold = gold_of(DATASET, NOTHING, (0, n))
    drawn = matched(pool_of(gold), n, np.random.default_rng(n))
    assert not any(classes(drawn))
    assert len(set(as_list(drawn))) == len(drawn) == n


@pytest.mark.parametrize(("n", "positives"), [(0, 0), (1, 0), (9, 4), (20, 10), (60, 30), (61, 30), (500, 30)])
def test_all_positives_and_as_many_negatives_or_more(n: int, positives: int) -> None:
    drawn = all_positives(pool_of(gold_of(DATASET, NOTHING)), n, np.random.default_rng(0))
    assert (len(drawn), sum(classes(drawn))) == (n, positives)
    for k in range(n):
        assert sum(classes(drawn)[:k]) == min(k // 2, positives)


def test_four_rounds_of_the_paper_hold_all_of_wikiqas_positives() -> None:
    """1,040 positives in budgets of 2,048 × 1.5ⁱ: 1,040 + 15,600 in the end."""
    collected = 0
    for size in (2048, 3072, 4608, 6912):
        collected += min(1040 - collected, size // 2)
    assert (collected, 16_640 - collected) == (1_040, 15_600)
    pairs = np.array([(i, 1_040 + i) for i in range(1_040)])
    dataset = make_dataset([""] * 2_080, ["left"] * 1_040 + ["right"] * 1_040, ["train"] * 1_040 + ["both"] * 1_040,
                           False, pairs)  # fmt: skip
    known, found = NOTHING, []
    for size in (2048, 3072, 4608, 6912):
        drawn = all_positives(pool_of(gold_of(dataset, known)), size, np.random.default_rng(0))
        known = np.r_[known, dataset.keys(drawn.left, drawn.right)]
        found.append(int((drawn.right == drawn.left + 1_040).sum()))
    assert (sum(found), len(np.unique(known))) == (1_040, 16_640)
