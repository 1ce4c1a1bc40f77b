"""Strategies: the worked selection, and one contract that every entry of the catalog keeps."""

from functools import partial
from inspect import signature

import numpy as np
import pytest

from db.domain import Settings
from learner.acquisition import Pool, adaptive_retrieval, most_similar, smallest, strategy, uncertainty
from learner.catalog import STRATEGIES
from learner.dataset import Dataset, make_dataset
from learner.output_layer import OutputLayer
from learner.rounds import choose, draw_pairs
from learner.search import Pairs

LOGITS = np.array([-6, -1.5, -0.2, 0.1, 0.4, 2, 5])


def pool_of(scores: np.ndarray, layer: OutputLayer) -> Pool:
    """A pool whose i-th candidate is the pair (i, i + 100)."""
    rows = np.arange(len(scores))
    candidates = Pairs(rows, rows + 100, scores.astype(np.float32))
    return Pool(candidates, layer, lambda n, rng: candidates.take(rng.permutation(len(scores))[:n]))


@pytest.mark.parametrize(("function", "chosen"), [(uncertainty, [3, 2, 4]), (adaptive_retrieval, [6, 5, 4])])
def test_the_worked_selection(function, chosen: list[int]) -> None:  # type: ignore[no-untyped-def]
    pool = pool_of(LOGITS / 10, OutputLayer(10.0, 0.0))
    assert function(pool, 3, np.random.default_rng(0)).left.tolist() == chosen


def test_uncertainty_follows_the_output_layer() -> None:
    pool = pool_of(np.array([0.1, 0.5, 0.9]), OutputLayer(20.0, -18.0))
    assert uncertainty(pool, 3, np.random.default_rng(0)).left.tolist() == [2, 1, 0]


def test_the_most_similar_come_first() -> None:
    assert most_similar(pool_of(LOGITS, OutputLayer(1, 0)).candidates, 2).left.tolist() == [6, 5]


def test_smallest_breaks_ties_by_position() -> None:
    values = np.array([2, 1, 2, 1, 0, 2])
    assert [smallest(values, n).tolist() for n in (0, 2, 4, 99)] == [
        [], [4, 1], [4, 1, 3, 0], [4, 1, 3, 0, 2, 5]
    ]  # fmt: skip


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_entry_of_the_catalog_has_its_function(name: str) -> None:
    assert list(signature(strategy(name)).parameters) == ["pool", "n", "rng"]
    assert STRATEGIES[name].title and STRATEGIES[name].description.endswith(".")


def corpus(symmetric: bool, n: int = 30) -> tuple[Dataset, np.ndarray]:
    """A dataset whose last third of left items is for evaluation, and its vectors."""
    left, right = n, 0 if symmetric else n // 2
    sides = ["left"] * left + ["right"] * right
    splits = ["train"] * (left - left // 3) + ["evaluation"] * (left // 3) + ["both"] * right
    dataset = make_dataset([""] * (left + right), sides, splits, symmetric, np.empty((0, 2)))
    vectors = np.random.default_rng(5).normal(size=(left + right, 8)).astype(np.float32)
    return dataset, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "bipartite"])
@pytest.mark.parametrize("name", STRATEGIES)
class TestContract:
    """What `choose` promises, whatever the strategy."""

    def ask(self, name: str, symmetric: bool, n: int, known: np.ndarray | None = None, items: int = 30, seed: int = 0):  # type: ignore[no-untyped-def]
        dataset, vectors = corpus(symmetric, items)
        known = np.empty(0, dtype=np.int64) if known is None else known
        settings = Settings(strategy=name, neighbours=6)
        rng = np.random.default_rng(seed)
        batch = choose(dataset, vectors, OutputLayer(5.0, -2.0), known, n, settings, rng)
        assert batch.strategy == name or not len(batch.pairs)
        return dataset, vectors, batch.pairs

    def test_n_pairs_each_once_of_training_items(self, name: str, symmetric: bool) -> None:
        dataset, vectors, pairs = self.ask(name, symmetric, 25)
        assert len(pairs) == 25
        assert len(np.unique(dataset.keys(pairs.left, pairs.right))) == 25
        assert np.isin(pairs.left, dataset.train_left).all()
        assert np.isin(pairs.right, dataset.train_right).all()
        if symmetric:
            assert (pairs.left < pairs.right).all()
        expected = np.einsum("nd,nd->n", vectors[pairs.left], vectors[pairs.right])
        assert pairs.score == pytest.approx(expected, abs=1e-5)

    def test_known_pairs_are_left_out(self, name: str, symmetric: bool) -> None:
        dataset, _, first = self.ask(name, symmetric, 25)
        known = dataset.keys(first.left, first.right)
        _, _, second = self.ask(name, symmetric, 25, known)
        assert len(second) == 25
        assert not np.isin(dataset.keys(second.left, second.right), known).any()

    def test_the_same_generator_gives_the_same_batch(self, name: str, symmetric: bool) -> None:
        (_, _, one), (_, _, other) = self.ask(name, symmetric, 25, seed=3), self.ask(name, symmetric, 25, seed=3)
        assert (one.left.tolist(), one.right.tolist()) == (other.left.tolist(), other.right.tolist())

    def test_more_than_there_is(self, name: str, symmetric: bool) -> None:
        dataset, _, pairs = self.ask(name, symmetric, 10_000)
        assert 0 < len(pairs) <= (190 if symmetric else 300)
        assert len(np.unique(dataset.keys(pairs.left, pairs.right))) == len(pairs)

    def test_nothing_is_left(self, name: str, symmetric: bool) -> None:
        dataset, _ = corpus(symmetric)
        grid = np.meshgrid(dataset.train_left, dataset.train_right, indexing="ij")
        known = dataset.keys(*(rows.ravel() for rows in grid))
        assert len(self.ask(name, symmetric, 25, known)[2]) == 0

    def test_no_pair_exists(self, name: str, symmetric: bool) -> None:
        assert len(self.ask(name, symmetric, 5, items=1)[2]) == 0

    def test_none_are_wanted(self, name: str, symmetric: bool) -> None:
        assert len(self.ask(name, symmetric, 0)[2]) == 0


def test_a_strategy_needs_no_more_than_the_pool() -> None:
    dataset, vectors = corpus(True)
    draw = partial(draw_pairs, dataset, vectors, np.empty(0, dtype=np.int64))
    empty = Pairs(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32))
    for name in STRATEGIES:
        chosen = strategy(name)(Pool(empty, OutputLayer(1, 0), draw), 5, np.random.default_rng(0))
        assert len(chosen) in (0, 5)
