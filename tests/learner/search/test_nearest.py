"""Near pairs: the suitable search, and an honest report of what an approximate one misses."""

from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from allpairs.db.domain import Search
from allpairs.db.progress import no_progress
from allpairs.learner.runtime.protocol import LOCAL
from allpairs.learner.search import inverted_file
from allpairs.learner.search import nearest as candidates
from allpairs.learner.search.exact import Pairs, nearest, neighbours, no_pairs
from allpairs.learner.search.inner_product import BLENDED, COSINE, as_left, as_right, factors
from allpairs.learner.search.inverted_file import neighbours_by_lists, probes_for
from allpairs.learner.search.nearest import near_pairs, near_scores

APPROXIMATE: tuple[Search, ...] = ("faiss-hnsw", "faiss-ivf")


def groups(n: int, seed: int, size: int = 20) -> np.ndarray:
    """Return unit vectors (n, 16) in groups."""
    rng = np.random.default_rng(seed)
    middles = rng.standard_normal((n // size, 16))
    vectors = middles[rng.integers(0, len(middles), n)] + 0.4 * rng.standard_normal((n, 16))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def keys(pairs, rows: int) -> set[int]:  # type: ignore[no-untyped-def]
    return set(pairs.keys(rows).tolist())


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_recall_is_that_of_all_texts(symmetric: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inverted_file, "probes_for", lambda *_: 2)  # so few lists that neighbours are missed
    left = groups(3_000, 0)
    right = left if symmetric else groups(2_000, 1)
    near = near_pairs(left, right, 10, symmetric, np.random.default_rng(0), "faiss-ivf")
    true = neighbours(left, right, 10, symmetric).ids
    rows = np.broadcast_to(np.arange(len(left))[:, None], true.shape)
    ends = (np.minimum(rows, true), np.maximum(rows, true)) if symmetric else (rows, true)
    share = np.isin(ends[0] * 3_000 + ends[1], list(keys(near.pairs, 3_000))).mean()
    assert near.recall is not None
    assert 0.3 < share < 0.99  # else nothing is shown
    assert near.recall.low <= share <= near.recall.high
    assert near.recall.high - near.recall.low < 0.1
    assert f"{100 * near.recall.value:.1f}%" in near.words(10)


def test_the_more_lists_are_looked_into_the_more_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, found = groups(2_000, 2), []
    for probes in (1, 4, 10_000):
        monkeypatch.setattr(inverted_file, "probes_for", lambda *_, probes=probes: min(probes, 31))
        near = near_pairs(vectors, vectors, 5, True, np.random.default_rng(0), "faiss-ivf")
        assert near.recall is not None
        found.append(near.recall.value)
    assert found[0] < found[1] < found[2] == 1.0
    assert keys(near.pairs, 2_000) == keys(nearest(vectors, vectors, 5, True), 2_000)


@pytest.mark.parametrize("search", APPROXIMATE)
@pytest.mark.parametrize(("n", "size"), [(3_000, 20), (6_000, 300), (6_000, 2)])
def test_the_target_is_met_whatever_the_texts(search: Search, n: int, size: int) -> None:
    vectors = groups(n, n + size, size)
    near = near_pairs(vectors, vectors, 20, True, np.random.default_rng(0), search)
    assert near.recall is not None and near.recall.high > 0.95 and near.recall.value > 0.93


@pytest.mark.parametrize("target", [0.5, 0.8])
def test_a_lower_target_looks_into_fewer_lists(target: float) -> None:
    vectors, rng = groups(6_000, 11, 2), np.random.default_rng(0)
    index = inverted_file.make_index(vectors, rng)
    probes = [probes_for(each, vectors, vectors, index, 10, rng, no_progress) for each in (target, 0.95)]
    assert 1 <= probes[0] < probes[1] < len(index.centres)
    found = neighbours_by_lists(vectors, vectors, 10, np.random.default_rng(0), engine=LOCAL, target=target)
    true = neighbours(vectors, vectors, 10, False).ids
    share = np.mean([np.isin(one, other).mean() for one, other in zip(true, found.ids, strict=True)])
    assert share == pytest.approx(target, abs=0.1) and share > target - 0.04


@pytest.mark.parametrize("search", APPROXIMATE)
def test_scores_are_the_pairs_own(search: Search) -> None:
    left, right = groups(500, 3), groups(400, 4)
    pairs = near_pairs(left, right, 7, False, np.random.default_rng(0), search).pairs
    assert pairs.score == pytest.approx((left[pairs.left] * right[pairs.right]).sum(1), abs=1e-5)
    assert len(keys(pairs, 500)) == len(pairs) == 500 * 7


def test_lifted_vectors_have_lists_too() -> None:
    bare = np.hstack([groups(1_500, 5), np.random.default_rng(5).uniform(0, 0.2, (1_500, 1))]).astype(np.float32)
    left, right = as_left(bare, BLENDED), as_right(bare, BLENDED)
    near = near_pairs(left, right, 10, True, np.random.default_rng(0), "faiss-ivf")
    assert near.recall is not None
    assert near.recall.value > 0.9
    assert (near.pairs.left < near.pairs.right).all()


def test_equal_texts_are_neighbours_of_each_other() -> None:
    vectors = np.repeat(groups(200, 6), 4, axis=0)
    near = near_pairs(vectors, vectors, 3, True, np.random.default_rng(0), "faiss-ivf")
    assert near.recall is not None
    assert near.recall.value == 1.0
    assert near.recall.low < 1.0 == near.recall.high


def test_vectors_on_disk_in_half_precision_give_nearly_the_same(tmp_path: Path) -> None:
    vectors = groups(2_000, 7)
    np.save(tmp_path / "half.npy", vectors.astype(np.float16))
    half = np.load(tmp_path / "half.npy", mmap_mode="r")
    one = neighbours_by_lists(vectors, vectors, 5, np.random.default_rng(0), engine=LOCAL)
    other = neighbours_by_lists(half, half, 5, np.random.default_rng(0), engine=LOCAL)
    assert np.sort(other.scores) == pytest.approx(np.sort(one.scores), abs=2e-3)


def test_auto_is_exact_until_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, rng = groups(1_000, 8), np.random.default_rng(0)
    exact = near_pairs(vectors, vectors, 5, True, rng)
    assert (exact.method, exact.recall, exact.words(5)) == ("exact", None, "")
    assert keys(exact.pairs, 1_000) == keys(nearest(vectors, vectors, 5, True), 1_000)
    monkeypatch.setattr(candidates, "EXACT_UP_TO", {"cpu": 999, "cuda": 999})
    assert near_pairs(vectors, vectors, 5, True, rng).method == "faiss-ivf"
    assert rng.random() == np.random.default_rng(0).random()  # what is drawn later does not hang on the search


@pytest.mark.parametrize("search", get_args(Search))
@pytest.mark.parametrize(("left", "right", "symmetric"), [(1, 1, True), (0, 0, True), (0, 3, False), (3, 0, False)])
def test_where_there_is_no_pair_none_is_found(search: Search, left: int, right: int, symmetric: bool) -> None:
    sides = groups(left, 0, 1), groups(right, 1, 1)
    near = near_pairs(*sides, 5, symmetric, np.random.default_rng(0), search)
    assert (len(near.pairs), near.recall) == (0, None)
    assert near_scores(*sides, 5, symmetric).shape == (left, 0)


def test_of_one_list_one_array_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    same: list[bool] = []

    def spy(left: np.ndarray, right: np.ndarray, *_: object, **__: object) -> Pairs:
        same.append(left is right)
        return no_pairs()

    for name in ("nearest", "nearest_by_hnsw", "nearest_scores"):
        monkeypatch.setattr(candidates, name, spy)
    monkeypatch.setattr(candidates, "neighbour_recall", lambda *_: None)
    sides, rng = factors(groups(40, 10), np.arange(40), np.arange(40), COSINE), np.random.default_rng(0)
    near_pairs(*sides, 5, True, rng, "exact")
    near_pairs(*sides, 5, True, rng, "faiss-hnsw")
    near_scores(*sides, 5, True)
    assert same == [True, True, True]


def test_so_many_neighbours_are_searched_as_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MOST", 3_500)
    monkeypatch.setattr(candidates, "SHARE", 0.0)
    vectors = groups(1_000, 9)
    near = near_pairs(vectors, vectors, 5, True, np.random.default_rng(0))
    assert near.neighbours == 3
    assert "3 neighbours" in near.words(5) and "instead of 5" in near.words(5)
