"""One round: budgets, uniform sampling, and which pairs may be chosen."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare  # type: ignore[import-untyped]

from allpairs.db.domain import SEED_STRATEGY, GrowthKind, Settings, batch_size_of
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.evaluation import sampling_designs
from allpairs.learner.loop import round
from allpairs.learner.loop.round import choose, evaluate_dataset
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs, count_pairs, pairs_numbered
from allpairs.learner.strategies.pool import draw_training_pairs

NOTHING = np.empty(0, dtype=np.int64)


def dataset_of(symmetric: bool, train: int, evaluation: int, right: int = 0, positives: object = ()) -> Dataset:
    sides = ["left"] * (train + evaluation) + ["right"] * right
    splits = ["train"] * train + ["evaluation"] * evaluation + ["both"] * right
    return make_dataset([""] * len(sides), sides, splits, symmetric, np.array(positives, dtype=np.int64))


def vectors_of(dataset: Dataset) -> np.ndarray:
    vectors = np.random.default_rng(1).normal(size=(len(dataset.texts), 6)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def as_set(pairs: Pairs) -> set[tuple[int, int]]:
    return set(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def test_the_papers_budgets() -> None:
    sizes = [batch_size_of(number, 2048, 1.5) for number in range(10)]
    assert sizes == [2048, 3072, 4608, 6912, 10368, 15552, 23328, 34992, 52488, 78732]
    assert (sum(sizes), sum(sizes[:4])) == (232_100, 16_640)
    # So many positives are expected among as many random pairs of the training parts (Table 1).
    expected = [sum(sizes) * 124_625 / 38e9, sum(sizes[:4]) * 1_040 / 56e6]
    assert expected == pytest.approx([0.761, 0.309], abs=5e-4)


@pytest.mark.parametrize(
    ("kind", "sizes"),
    [("exponential", [40, 60, 90, 135]), ("linear", [40, 60, 80, 100]), ("constant", [40, 40, 40, 40])],
)
def test_kinds_of_growth(kind: GrowthKind, sizes: list[int]) -> None:
    assert [batch_size_of(number, 40, 1.5, kind) for number in range(4)] == sizes


@given(st.integers(2, 40), st.integers(1, 40), st.booleans())
def test_every_number_is_one_pair(rows: int, columns: int, symmetric: bool) -> None:
    expected = list(combinations(range(rows), 2) if symmetric else product(range(rows), range(columns)))
    left, right = pairs_numbered(np.arange(len(expected)), rows, columns, symmetric)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected


def test_numbers_are_exact_with_many_items() -> None:
    rows = 300_000
    total = count_pairs(rows, rows, True)
    left, right = pairs_numbered(np.array([0, rows - 2, rows - 1, total - 1]), rows, rows, True)
    assert left.tolist() == [0, 0, 1, rows - 2]
    assert right.tolist() == [1, rows - 1, 2, rows - 1]


@pytest.mark.parametrize("symmetric", [True, False])
def test_draws_are_uniform_and_never_known(symmetric: bool) -> None:
    dataset = dataset_of(symmetric, 7, 3, right=0 if symmetric else 4)
    left, right = dataset.train_left.tolist(), dataset.train_right.tolist()
    pairs = list(combinations(left, 2) if symmetric else product(left, right))
    known = dataset.keys(*np.array(pairs[::5]).T)
    rng, counts = np.random.default_rng(0), dict.fromkeys(pairs, 0)
    for _ in range(600):
        drawn = draw_training_pairs(dataset, known, 5, rng)
        assert len(as_set(drawn)) == 5
        for pair in as_set(drawn):
            counts[pair] += 1
    assert all(counts[pair] == 0 for pair in pairs[::5])
    # The five of one draw exclude each other, so counts vary less than independent ones: the test is a lenient one.
    assert chisquare([count for count in counts.values() if count]).pvalue > 0.01
    assert sum(count > 0 for count in counts.values()) == len(pairs) - len(pairs[::5])


def test_a_draw_from_a_million_items_is_cheap() -> None:
    n = 1_000_000
    rows = np.arange(n)
    dataset = Dataset(range(n), True, rows, rows, NOTHING, NOTHING, np.empty((0, 2), dtype=np.int64))  # type: ignore[arg-type]
    drawn = draw_training_pairs(dataset, NOTHING, 1000, np.random.default_rng(0))
    assert len(as_set(drawn)) == 1000
    assert drawn.left.mean() == pytest.approx(n / 3, rel=0.1)


@pytest.mark.parametrize("symmetric", [True, False])
def test_an_untrained_layer_chooses_the_most_similar_pairs(symmetric: bool) -> None:
    dataset = dataset_of(symmetric, 12, 5, right=0 if symmetric else 8)
    vectors = vectors_of(dataset)
    pairs = combinations(dataset.train_left, 2) if symmetric else product(dataset.train_left, dataset.train_right)
    best = sorted(((int(i), int(j)) for i, j in pairs), key=lambda pair: -(vectors[pair[0]] @ vectors[pair[1]]))
    settings = Settings(strategy="uncertainty", first_batch="most-similar", neighbours=50)
    batch = choose(dataset, vectors, None, NOTHING, 10, settings, np.random.default_rng(0))
    assert batch.strategy == SEED_STRATEGY
    assert list(zip(batch.pairs.left.tolist(), batch.pairs.right.tolist(), strict=True)) == best[:10]
    known = dataset.keys(batch.pairs.left, batch.pairs.right)
    following = choose(dataset, vectors, None, known, 10, settings, np.random.default_rng(0))
    assert list(zip(following.pairs.left.tolist(), following.pairs.right.tolist(), strict=True)) == best[10:20]


@pytest.mark.parametrize("layer", [None, OutputLayer(4.0, -1.0)])
def test_evaluation_items_are_never_chosen(layer: OutputLayer | None) -> None:
    dataset = dataset_of(True, 10, 10)
    settings = Settings(neighbours=100)
    batch = choose(dataset, vectors_of(dataset), layer, NOTHING, 10**6, settings, np.random.default_rng(0))
    assert as_set(batch.pairs) == set(combinations(range(10), 2))


def test_everything_kept_for_measuring_leaves_nothing_to_choose() -> None:
    dataset = dataset_of(True, 0, 5)
    batch = choose(dataset, vectors_of(dataset), None, NOTHING, 5, Settings(), np.random.default_rng(0))
    assert len(batch.pairs) == 0


def test_only_pairs_of_evaluation_items_are_measured() -> None:
    dataset = dataset_of(True, 6, 4, positives=[(0, 1), (2, 7), (6, 7), (7, 9)])
    assert dataset.evaluation_positives.tolist() == [[0, 1], [1, 3]]
    measured = evaluate_dataset(dataset, vectors_of(dataset))
    assert measured is not None
    assert (measured.pairs, measured.positives) == (6, 2)


def test_two_lists_share_the_right_one() -> None:
    dataset = dataset_of(False, 6, 4, right=5, positives=[(0, 10), (7, 10), (9, 14)])
    assert dataset.evaluation_positives.tolist() == [[1, 0], [3, 4]]
    measured = evaluate_dataset(dataset, vectors_of(dataset))
    assert measured is not None
    assert (measured.pairs, measured.positives) == (20, 2)


@pytest.mark.parametrize("symmetric", [True, False])
def test_where_the_pairs_are_too_many_a_sample_measures(symmetric: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    positives = [(i, i + 1) for i in range(300, 600, 3)] if symmetric else [(i, 400 + i) for i in range(250, 400)]
    dataset = dataset_of(symmetric, 200, 400 if symmetric else 200, right=0 if symmetric else 400, positives=positives)
    vectors, layer = vectors_of(dataset), OutputLayer(4.0, -1.0)
    whole = evaluate_dataset(dataset, vectors, layer=layer)
    monkeypatch.setattr(round, "EXACT_PAIRS", {"cpu": 10_000, "cuda": 10_000})
    monkeypatch.setattr(sampling_designs, "NEAR", 20)
    monkeypatch.setattr(round, "SAMPLED", 20_000)
    sampled, insisted = (
        evaluate_dataset(dataset, vectors, layer=layer, seed=1, exact=exact) for exact in (False, True)
    )
    assert whole is not None and sampled is not None and insisted is not None
    assert insisted.estimates == whole.estimates
    assert (sampled.pairs, sampled.positives) == (whole.pairs, whole.positives)
    assert sum(part["size"] for part in sampled.strata) == whole.pairs
    assert sampled.estimates.keys() == whole.estimates.keys()
    for name, one in sampled.estimates.items():
        assert one.method == "near-random"
        assert one.low <= whole.estimates[name].value <= one.high, name


def test_without_gold_nothing_is_measured() -> None:
    dataset = dataset_of(True, 6, 4)
    assert evaluate_dataset(dataset, vectors_of(dataset)) is None
