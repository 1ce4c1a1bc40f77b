"""Strategies: the worked selection, and one contract for every entry of the catalog."""

from dataclasses import replace
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.domain import HALF_SPREAD_STRATEGY, SEED_STRATEGY, SPREAD_STRATEGY, Settings
from allpairs.db.errors import InputError
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.light.catalog import STRATEGIES
from allpairs.learner.loop.round import choose
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.nearest import Near
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.second_stage.make import Staged
from allpairs.learner.strategies.basic import (
    Strategy,
    half_spread,
    most_similar,
    smallest,
    spread,
    strategy,
    uncertainty,
)
from allpairs.learner.strategies.pool import Background, GoldPairs, Pool, gold_of

LOGITS = np.array([-6, -1.5, -0.2, 0.1, 0.4, 2, 5])


def pool_of(scores: np.ndarray, layer: OutputLayer) -> Pool:
    """Return a pool whose i-th candidate is the pair (i, i + 100)."""
    rows = np.arange(len(scores))
    candidates = Pairs(rows, rows + 100, scores.astype(np.float32))
    near = Near(candidates, "exact", len(scores))
    return Pool(lambda: near, layer, lambda n, rng: candidates.take(rng.permutation(len(scores))[:n]), 40)


@pytest.mark.parametrize(("function", "chosen"), [(uncertainty, [3, 2, 4]), (most_similar, [6, 5, 4])])
def test_the_worked_selection(function: Strategy, chosen: list[int]) -> None:
    pool = pool_of(LOGITS / 10, OutputLayer(10.0, 0.0))
    assert function(pool, 3, np.random.default_rng(0)).left.tolist() == chosen


def test_uncertainty_follows_the_output_layer() -> None:
    pool = pool_of(np.array([0.1, 0.5, 0.9]), OutputLayer(20.0, -18.0))
    assert uncertainty(pool, 3, np.random.default_rng(0)).left.tolist() == [2, 1, 0]


@pytest.mark.parametrize("function", [spread, half_spread])
@given(candidates=st.integers(0, 3_000), n=st.integers(0, 200), more=st.integers(0, 200))
def test_spread_pairs_are_a_prefix_of_more(function: Strategy, candidates: int, n: int, more: int) -> None:
    pool = pool_of(np.linspace(1, -1, candidates), TRAINED)
    few, many = (function(pool, count, np.random.default_rng(0)).left for count in (n, n + more))
    assert len(few) == min(n, candidates)
    assert len(np.unique(many)) == min(n + more, candidates)
    if n + more < candidates / 20:
        assert many[:n].tolist() == few.tolist()


def test_spread_reaches_every_depth_of_the_ranking() -> None:
    depth = spread(pool_of(np.linspace(1, -1, 10**6), TRAINED), 40, np.random.default_rng(0)).left
    decades = np.histogram(np.log10(depth + 1), bins=[0, 1, 2, 3, 4, 5, 6])[0]
    assert decades.min() >= 3


def test_first_pairs_are_half_similar_and_half_below_the_matches() -> None:
    pool = replace(pool_of(np.linspace(1, -1, 10**5), TRAINED), layer=None)
    ranks, rest = (function(pool, 40, np.random.default_rng(0)).left for function in (half_spread, spread))
    assert np.isin(np.arange(20), ranks).all()
    assert 8 <= (ranks >= 200).sum() <= 12
    assert (rest >= 2_000).sum() >= 10  # what follows where they were all positive


def test_first_pairs_by_columns_are_uncertain_or_likely() -> None:
    scores = np.linspace(1, -1, 1_001)
    ranks = half_spread(pool_of(scores, OutputLayer(20.0, -10.0)), 40, np.random.default_rng(0)).left
    uncertain = np.argsort(np.abs(scores - 0.5))[:18]
    assert np.isin(uncertain, ranks).all()
    assert (np.histogram(ranks, bins=5, range=(0, 250))[0] >= 3).all()


def test_smallest_breaks_ties_by_position() -> None:
    values = np.array([2, 1, 2, 1, 0, 2])
    assert [smallest(values, n).tolist() for n in (0, 2, 4, 99)] == [
        [], [4, 1], [4, 1, 3, 0], [4, 1, 3, 0, 2, 5]
    ]  # fmt: skip


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_entry_of_the_catalog_has_its_functions(name: str) -> None:
    entry = STRATEGIES[name]
    for function in (strategy(name), strategy(entry.seed)):
        assert list(signature(function).parameters) == ["pool", "n", "rng"]
    assert entry.title and entry.description.endswith(".")
    assert entry.seed == SEED_STRATEGY or STRATEGIES[entry.seed].seed == entry.seed


def corpus(symmetric: bool, n: int = 30) -> tuple[Dataset, np.ndarray]:
    """Return a dataset whose last third of left items is for evaluation, and its vectors.

    Every ninth pair is a positive, and every ninth of the other pairs is a given negative.
    """
    left, right = n, 0 if symmetric else n // 2
    sides = ["left"] * left + ["right"] * right
    splits = ["train"] * (left - left // 3) + ["evaluation"] * (left // 3) + ["both"] * right
    pairs = [(i, j) for i in range(n) for j in (range(i + 1, n) if symmetric else range(n, n + right))]
    given = [(*pair, at % 9 == 0) for at, pair in enumerate(pairs) if at % 9 < 2]
    positives = np.array([pair[:2] for pair in given if pair[2]]).reshape(-1, 2)
    dataset = make_dataset([""] * (left + right), sides, splits, symmetric, positives, given)
    vectors = np.random.default_rng(5).normal(size=(left + right, 8)).astype(np.float32)
    return dataset, vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def background_of(
    dataset: Dataset, vectors: np.ndarray, known: np.ndarray, n: int, answers: tuple[int, int] = (1, 0)
) -> Background:
    """Return all that a strategy may need: two labels, other pre-trained vectors, gold with a third of positives."""
    labelled = Labelled(np.resize(dataset.train_left, 2), np.resize(dataset.train_right[::-1], 2), np.array(answers))
    return Background(labelled, np.roll(vectors, 1, axis=0), gold_of(dataset, known, (n // 3, n - n // 3)))


TRAINED = OutputLayer(5.0, -2.0)
# The output layer, two answers so far, what chooses in place of the seed strategy, and whether columns are compared.
STATES: dict[str, tuple[OutputLayer | None, tuple[int, int], str, bool]] = {
    "trained": (TRAINED, (1, 0), "", False),
    "only negatives": (None, (0, 0), HALF_SPREAD_STRATEGY, False),
    "only positives": (None, (1, 1), SPREAD_STRATEGY, False),
    "columns trained": (TRAINED, (1, 0), "", True),
    "columns alone": (None, (0, 0), HALF_SPREAD_STRATEGY, True),
}


def by_columns(dataset: Dataset, vectors: np.ndarray) -> Staged:
    """Return a whole score that has all pairs, with the scores of these vectors."""
    left, right = (grid.ravel() for grid in np.meshgrid(dataset.left, dataset.right, indexing="ij"))
    inside = left < right
    score = np.einsum("nd,nd->n", vectors[left[inside]], vectors[right[inside]])
    return Staged(TRAINED, rescored=Rescored(Pairs(left[inside], right[inside], score), len(vectors)))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "bipartite"])
@pytest.mark.parametrize("name", STRATEGIES)
class TestContract:
    """What `choose` promises, whatever the strategy."""

    def ask(
        self, name: str, symmetric: bool, state: str, n: int,
        known: np.ndarray | None = None, items: int = 30, seed: int = 0, **settings: object,
    ) -> tuple[Dataset, np.ndarray, Pairs]:  # fmt: skip
        dataset, vectors = corpus(symmetric, items)
        known = np.empty(0, dtype=np.int64) if known is None else known
        asked = Settings.model_validate({"strategy": name, "neighbours": 6} | settings)
        layer, answers, chooser, compares_columns = STATES[state]
        whole = by_columns(dataset, vectors) if compares_columns else None
        background = background_of(dataset, vectors, known, n, answers)
        rng = np.random.default_rng(seed)
        batch = choose(dataset, vectors, layer, known, n, asked, rng, background=background, whole=whole)
        assert batch.strategy == (name if layer else STRATEGIES[name].seed.replace(SEED_STRATEGY, chooser))
        return dataset, vectors, batch.pairs

    def test_n_pairs_each_once_of_training_items(self, name: str, symmetric: bool, state: str) -> None:
        dataset, vectors, pairs = self.ask(name, symmetric, state, 25)
        assert len(pairs) == 25
        assert len(np.unique(dataset.keys(pairs.left, pairs.right))) == 25
        assert np.isin(pairs.left, dataset.train_left).all()
        assert np.isin(pairs.right, dataset.train_right).all()
        if symmetric:
            assert (pairs.left < pairs.right).all()
        expected = np.einsum("nd,nd->n", vectors[pairs.left], vectors[pairs.right])
        assert pairs.score == pytest.approx(expected, abs=1e-5)

    def test_known_pairs_are_left_out(self, name: str, symmetric: bool, state: str) -> None:
        dataset, _, first = self.ask(name, symmetric, state, 12)
        known = dataset.keys(first.left, first.right)
        _, _, second = self.ask(name, symmetric, state, 12, known)
        assert len(second) == 12
        assert not np.isin(dataset.keys(second.left, second.right), known).any()

    def test_the_same_generator_gives_the_same_batch(self, name: str, symmetric: bool, state: str) -> None:
        varied = {"per_text": 2, "control_share": 0.2}
        one, other = (self.ask(name, symmetric, state, 25, seed=3, **varied)[2] for _ in range(2))
        assert (one.left.tolist(), one.right.tolist()) == (other.left.tolist(), other.right.tolist())
        assert len(one) == 25

    def test_more_than_there_is(self, name: str, symmetric: bool, state: str) -> None:
        for settings in ({}, {"per_text": 1, "control_share": 0.5}):
            dataset, _, pairs = self.ask(name, symmetric, state, 10_000, **settings)
            assert 0 < len(pairs) <= (190 if symmetric else 300)
            assert len(np.unique(dataset.keys(pairs.left, pairs.right))) == len(pairs)

    def test_nothing_is_left(self, name: str, symmetric: bool, state: str) -> None:
        dataset, _ = corpus(symmetric)
        grid = np.meshgrid(dataset.train_left, dataset.train_right, indexing="ij")
        known = dataset.keys(*(rows.ravel() for rows in grid))
        assert len(self.ask(name, symmetric, state, 25, known, per_text=2, control_share=0.3)[2]) == 0

    def test_no_pair_exists(self, name: str, symmetric: bool, state: str) -> None:
        assert len(self.ask(name, symmetric, state, 5, items=1)[2]) == 0

    def test_none_are_wanted(self, name: str, symmetric: bool, state: str) -> None:
        assert len(self.ask(name, symmetric, state, 0, per_text=1)[2]) == 0


@pytest.mark.parametrize(("name", "from_columns"), [("uncertainty", True), ("static-retrieval", False)])
def test_only_static_strategies_look_past_columns(name: str, from_columns: bool) -> None:
    dataset, vectors = corpus(True)
    whole = by_columns(dataset, vectors)
    few = replace(whole, rescored=Rescored(whole.rescored.pairs.take(np.arange(0, 60, 4)), len(vectors)))
    known = np.empty(0, dtype=np.int64)
    settings = Settings(strategy=name, neighbours=6)
    background = background_of(dataset, vectors, known, 5)
    batch = choose(
        dataset, vectors, TRAINED, known, 5, settings, np.random.default_rng(0), background=background, whole=few
    )
    among = np.isin(batch.pairs.keys(len(vectors)), few.rescored.pairs.keys(len(vectors)))
    assert among.all() == from_columns


@pytest.mark.parametrize("name", [name for name in STRATEGIES if name != "stratified-match"])
def test_no_text_is_in_more_pairs_than_its_cap(name: str) -> None:
    dataset, vectors = corpus(True)
    nothing = np.empty(0, dtype=np.int64)
    pairs = choose(dataset, vectors, TRAINED, nothing, 5, Settings(strategy=name, per_text=1),
                   np.random.default_rng(0), background=background_of(dataset, vectors, nothing, 5)).pairs  # fmt: skip
    assert len(np.unique(np.r_[pairs.left, pairs.right])) == 2 * len(pairs) == 10


@pytest.mark.parametrize(
    ("name", "missing"),
    [(name, "simulation") for name, entry in STRATEGIES.items() if not entry.live and name != "uncertainty-stated"]
    + [("static-retrieval", "pre-trained encoder")],
)
def test_what_a_strategy_misses_is_said(name: str, missing: str) -> None:
    dataset, vectors = corpus(True)
    with pytest.raises(InputError, match=missing):
        choose(dataset, vectors, TRAINED, np.empty(0, dtype=np.int64), 5, Settings(strategy=name),
               np.random.default_rng(0))  # fmt: skip


def test_static_retrieval_looks_with_the_pre_trained_encoder() -> None:
    dataset, vectors = corpus(True)
    nothing, other = np.empty(0, dtype=np.int64), np.roll(vectors, 1, axis=0)
    background = Background(pretrained=other)
    static = choose(dataset, vectors, TRAINED, nothing, 8, Settings(strategy="static-retrieval"),
                    np.random.default_rng(0), background=background)  # fmt: skip
    adaptive = choose(dataset, other, TRAINED, nothing, 8, Settings(strategy="adaptive-retrieval"),
                      np.random.default_rng(0))  # fmt: skip
    assert (static.pairs.left.tolist(), static.pairs.right.tolist()) == (
        adaptive.pairs.left.tolist(), adaptive.pairs.right.tolist())  # fmt: skip
    assert static.pairs.score != pytest.approx(adaptive.pairs.score)


def test_candidates_are_searched_only_where_they_are_wanted() -> None:
    def fail() -> Near:
        raise AssertionError("searched")

    dataset, _ = corpus(True)
    nothing = np.empty(0, dtype=np.int64)
    gold: GoldPairs = gold_of(dataset, nothing, (2, 3))
    for name in ("random", "stated", "stratified-match", "stratified-all-positives"):
        pool = Pool(fail, TRAINED, gold.negatives, 5, Background(gold=gold))
        assert len(strategy(name)(pool, 5, np.random.default_rng(0))) == 5
