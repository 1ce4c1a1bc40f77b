"""Nearest neighbours and best pairs, against brute force, with blocks small enough to cross every border."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.search import exact as search
from allpairs.learner.search.exact import Pairs, count_pairs, nearest, neighbours
from allpairs.learner.search.top_pairs import best_pairs, most_uncertain
from tests.helpers.machine import examples


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "ROWS", 3)
    monkeypatch.setattr(search, "PARTS", 2)
    monkeypatch.setattr(search, "COLUMNS", 5)
    monkeypatch.setattr(search, "QUERIES", 5)


# The patched block sizes are the same for every example.
properties = settings(max_examples=examples(60), suppress_health_check=[HealthCheck.function_scoped_fixture])


def unit(rng: np.random.Generator, n: int, d: int = 4) -> np.ndarray:
    vectors = rng.normal(size=(n, d)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def all_pairs(left: int, right: int, symmetric: bool) -> list[tuple[int, int]]:
    return list(combinations(range(left), 2) if symmetric else product(range(left), range(right)))


def as_list(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))


def assert_scores(pairs: Pairs, left: np.ndarray, right: np.ndarray) -> None:
    expected = np.einsum("nd,nd->n", left[pairs.left], right[pairs.right])
    assert pairs.score == pytest.approx(expected, abs=1e-5)


@properties
@given(st.integers(1, 17), st.integers(1, 17), st.integers(1, 20), st.integers(0, 10**6))
def test_nearest_in_two_lists(n: int, m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = unit(rng, n), unit(rng, m)
    found = nearest(left, right, k, symmetric=False)
    best = np.argsort(-(left @ right.T), axis=1)[:, :k]
    assert sorted(as_list(found)) == sorted((row, column) for row in range(n) for column in best[row].tolist())
    assert_scores(found, left, right)


@properties
@given(st.integers(1, 17), st.integers(1, 20), st.integers(0, 10**6))
def test_nearest_in_one_list(n: int, k: int, seed: int) -> None:
    vectors = unit(np.random.default_rng(seed), n)
    found = nearest(vectors, vectors, k, symmetric=True)
    scores = vectors @ vectors.T
    np.fill_diagonal(scores, -np.inf)
    best = np.argsort(-scores, axis=1)[:, : min(k, n - 1)]
    expected = {(min(row, other), max(row, other)) for row in range(n) for other in best[row].tolist()}
    assert sorted(as_list(found)) == sorted(expected)
    assert_scores(found, vectors, vectors)


@properties
@given(st.integers(1, 17), st.integers(1, 17), st.integers(1, 20), st.booleans(), st.integers(0, 10**6))
def test_neighbours_lie_in_order(n: int, m: int, k: int, symmetric: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = unit(rng, n)
    right = left if symmetric else unit(rng, m)
    scores = left @ right.T
    if symmetric:
        np.fill_diagonal(scores, -np.inf)
    best = np.argsort(-scores, axis=1)[:, : min(k, len(right) - symmetric)]
    found = neighbours(left, right, k, symmetric)
    assert found.ids.tolist() == best.tolist()
    assert found.scores == pytest.approx(np.take_along_axis(scores, best, 1), abs=1e-5)


def test_neighbours_that_tie_keep_the_order_of_the_rows() -> None:
    vectors = np.tile(np.array([1, 0], dtype=np.float32), (9, 1))
    assert neighbours(vectors, vectors, 9, False).ids.tolist() == [list(range(9))] * 9
    assert neighbours(vectors, vectors, 9, True).ids.tolist() == [
        [other for other in range(9) if other != row] for row in range(9)
    ]


def test_identical_texts_find_each_other_and_never_themselves() -> None:
    vectors = np.repeat(unit(np.random.default_rng(0), 2), 8, axis=0)
    found = as_list(nearest(vectors, vectors, 3, symmetric=True))
    assert len(found) == len(set(found))
    assert all(left < right and left // 8 == right // 8 for left, right in found)
    assert {row for pair in found for row in pair} == set(range(16))


@pytest.mark.parametrize("symmetric", [True, False])
def test_one_item_and_none(symmetric: bool) -> None:
    one, none = unit(np.random.default_rng(0), 1), np.empty((0, 4), dtype=np.float32)
    assert len(nearest(one, one, 5, symmetric)) == (0 if symmetric else 1)
    assert len(nearest(none, none, 5, symmetric)) == 0
    assert neighbours(one, one, 5, symmetric).ids.shape == (1, 1 - symmetric)
    assert neighbours(none, none, 5, symmetric).ids.shape == (0, 0)
    assert len(best_pairs(none, none, symmetric, top=5)) == 0
    assert len(best_pairs(one, one, symmetric, top=5)) == (0 if symmetric else 1)


@properties
@given(st.integers(1, 17), st.integers(1, 17), st.booleans(), st.integers(1, 40), st.integers(0, 10**6))
def test_the_best_pairs(n: int, m: int, symmetric: bool, top: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = unit(rng, n)
    right = left if symmetric else unit(rng, m)
    scores = left @ right.T
    expected = sorted(all_pairs(n, m, symmetric), key=lambda pair: -scores[pair])
    found = best_pairs(left, right, symmetric, top=top)
    assert as_list(found) == expected[:top]
    assert_scores(found, left, right)


@properties
@given(st.integers(1, 17), st.integers(1, 17), st.booleans(), st.floats(-0.9, 0.9), st.integers(0, 10**6))
def test_all_pairs_above_a_threshold(n: int, m: int, symmetric: bool, threshold: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = unit(rng, n)
    right = left if symmetric else unit(rng, m)
    scores = left @ right.T
    expected = [pair for pair in all_pairs(n, m, symmetric) if scores[pair] >= threshold]
    found = best_pairs(left, right, symmetric, threshold=threshold)
    assert as_list(found) == sorted(expected, key=lambda pair: -scores[pair])


def test_ties_keep_the_order_of_the_rows() -> None:
    vectors = np.tile(np.array([1, 0], dtype=np.float32), (9, 1))
    assert as_list(best_pairs(vectors, vectors, True, top=20)) == all_pairs(9, 9, True)[:20]


def test_opposite_vectors_are_pairs_too() -> None:
    vectors = unit(np.random.default_rng(3), 40, 300)
    found = best_pairs(vectors, -vectors, False, top=10**4)
    assert len(found) == 1600


def test_cutting_on_the_way_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit(np.random.default_rng(1), 60)
    whole = as_list(best_pairs(vectors, vectors, True, top=50))
    monkeypatch.setattr("allpairs.learner.search.top_pairs.SPARE_PAIRS", 60)
    assert as_list(best_pairs(vectors, vectors, True, top=50)) == whole


def closest(scores: np.ndarray, pairs: list[tuple[int, int]], threshold: float) -> list[tuple[int, int]]:
    """Return all pairs by their distance from the threshold, ties in order, by brute force."""
    return sorted(pairs, key=lambda pair: abs(float(scores[pair]) - threshold))


@properties
@given(st.integers(1, 17), st.integers(1, 17), st.booleans(), st.integers(0, 40), st.floats(-1, 1), st.integers(0, 99))
def test_the_most_uncertain_pairs_of_all(n: int, m: int, symmetric: bool, k: int, threshold: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = unit(rng, n)
    right = left if symmetric else unit(rng, m)
    pairs = all_pairs(n, m, symmetric)
    known = [pair for pair in pairs if rng.random() < 0.3]
    expected = closest(left @ right.T, [pair for pair in pairs if pair not in known], threshold)
    found = most_uncertain(left, right, symmetric, threshold, k, np.array(known, dtype=np.int64).reshape(-1, 2))
    assert as_list(found) == expected[:k]
    assert_scores(found, left, right)


@pytest.mark.parametrize("threshold", [-0.4, 0.0, 0.9])
def test_a_window_that_narrows_loses_no_uncertain_pair(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = unit(np.random.default_rng(2), 60)
    expected = closest(vectors @ vectors.T, all_pairs(60, 60, True), threshold)
    monkeypatch.setattr("allpairs.learner.search.top_pairs.SPARE_PAIRS", 30)
    assert as_list(most_uncertain(vectors, vectors, True, threshold, 40)) == expected[:40]


def test_ties_at_the_edge_of_the_window_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allpairs.learner.search.top_pairs.SPARE_PAIRS", 10)
    vectors = np.tile(np.array([1, 0], dtype=np.float32), (12, 1))
    assert as_list(most_uncertain(vectors, vectors, True, 0.3, 20)) == all_pairs(12, 12, True)[:20]


def test_too_many_pairs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("allpairs.learner.search.top_pairs.MOST_PAIRS", 20)
    vectors = unit(np.random.default_rng(0), 12)
    with pytest.raises(InputError, match="more than 20 pairs score at least -2"):
        best_pairs(vectors, vectors, True, threshold=-2)
    with pytest.raises(InputError, match="21 pairs"):
        best_pairs(vectors, vectors, True, top=21)
    with pytest.raises(InputError, match="21 pairs"):
        most_uncertain(vectors, vectors, True, 0.5, 21)


def test_progress_ends_at_one() -> None:
    vectors = unit(np.random.default_rng(0), 10)
    seen: list[float] = []
    nearest(vectors, vectors, 3, True, progress=lambda stage, done: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1
    seen.clear()
    best_pairs(vectors, vectors, True, top=3, progress=lambda stage, done: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1
    seen.clear()
    most_uncertain(vectors, vectors, True, 0.5, 3, progress=lambda stage, done: seen.append(done))
    assert seen == sorted(seen)
    assert seen[-1] == 1


def test_the_number_of_pairs() -> None:
    assert [count_pairs(n, n, True) for n in range(5)] == [0, 0, 1, 3, 6]
    assert count_pairs(3, 4, False) == 12
