"""Distances: a lifted inner product is the score, searched and measured exactly like a cosine."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from allpairs.db.domain import Distance, Settings
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.loop.round import choose, evaluate_dataset
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search.inner_product import Space, as_left, as_right, magnitude, score, scores
from allpairs.learner.search.top_pairs import best_pairs

DISTANCES: list[Distance] = ["cosine", "dot", "l2"]


def drawn(n: int, d: int, distance: Distance, seed: int, length: float = 5.0) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, d)) * length
    if distance == "cosine":
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32)


def brute_force(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, distance: Distance) -> np.ndarray:
    one, other = vectors[left].astype(np.float64), vectors[right].astype(np.float64)
    return -(np.linalg.norm(one - other, axis=1) ** 2) if distance == "l2" else np.einsum("nd,nd->n", one, other)


@pytest.mark.parametrize("distance", DISTANCES)
@given(st.integers(2, 30), st.sampled_from([1, 7, 384]), st.integers(0, 99))
def test_lifted_products_are_the_scores(distance: Distance, n: int, d: int, seed: int) -> None:
    vectors = drawn(n, d, distance, seed)
    left, right = np.indices((n, n)).reshape(2, -1)
    expected = brute_force(vectors, left, right, distance)
    allowed = 1e-6 * magnitude(vectors, vectors, Space(distance))
    products = as_left(vectors, Space(distance)) @ as_right(vectors, Space(distance)).T
    assert products.dtype == np.float32
    assert np.abs(products.ravel() - expected).max() <= allowed
    assert np.abs(scores(vectors, left, right, Space(distance)) - expected).max() <= allowed
    tensors = torch.from_numpy(vectors)
    assert np.abs(score(tensors[left], tensors[right], distance).numpy() - expected).max() <= allowed


def test_vectors_in_half_precision_are_multiplied_in_single() -> None:
    half = drawn(50, 384, "cosine", 0).astype(np.float16)
    rows, columns = np.arange(50), np.arange(50)[::-1]
    found = scores(half, rows, columns)
    assert found.dtype == np.float32
    assert np.abs(found - brute_force(half, rows, columns, "cosine")).max() < 1e-6


def test_scores_of_no_pairs() -> None:
    nothing = np.empty(0, dtype=np.int64)
    assert scores(drawn(3, 2, "l2", 0), nothing, nothing, Space("l2")).shape == (0,)


def dataset_of(n: int, positives: np.ndarray):  # type: ignore[no-untyped-def]
    return make_dataset([""] * (2 * n), ["left"] * (2 * n), ["train"] * n + ["evaluation"] * n, True, positives)


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_nearest_pairs_are_chosen(distance: Distance) -> None:
    vectors = drawn(80, 12, distance, 3)
    pairs = np.array(list(combinations(range(40), 2)))
    expected = brute_force(vectors, *pairs.T, distance)
    asked = Settings.model_validate(
        {"distance": distance, "search": "exact", "neighbours": 40, "first_batch": "most-similar"}
    )
    batch = choose(dataset_of(40, np.empty((0, 2))), vectors, None, np.empty(0, dtype=np.int64), 25, asked,
                   np.random.default_rng(0), space=Space(distance))  # fmt: skip
    assert np.c_[batch.pairs.left, batch.pairs.right].tolist() == pairs[np.argsort(-expected)[:25]].tolist()
    assert batch.pairs.score == pytest.approx(np.sort(expected)[::-1][:25], rel=1e-4, abs=1e-4)


def told_apart(vectors: np.ndarray, pairs: np.ndarray, distance: Distance) -> bool:
    """Return whether unequal scores differ by more than rounding errors."""
    gaps = np.diff(np.sort(brute_force(vectors, *pairs.T, distance)))
    error = 1e-6 * magnitude(vectors, vectors, Space(distance))
    return bool(((gaps < 0.4 * error) | (gaps > 4 * error)).all())


@pytest.mark.parametrize("repeated", [False, True])
@pytest.mark.parametrize("distance", DISTANCES)
def test_evaluation_equals_brute_force(distance: Distance, repeated: bool) -> None:
    pairs = np.array(list(combinations(range(20, 40), 2)))
    rows = np.random.default_rng(0).integers(0, 40, 40) // 2 if repeated else np.arange(40)
    vectors = next(found for seed in range(100)
                   if told_apart(found := drawn(40, 12, distance, seed)[rows], pairs, distance))  # fmt: skip
    expected = np.round(brute_force(vectors, *pairs.T, distance), 6)
    positive = np.random.default_rng(5).random(len(pairs)) < (1 + np.argsort(np.argsort(expected))) / 300
    values = np.unique(expected)
    threshold = float(values[len(values) // 2 : len(values) // 2 + 2].mean())  # between two scores
    layer = OutputLayer(0.3, -0.3 * threshold)
    found = evaluate_dataset(dataset_of(20, pairs[positive]), vectors, layer=layer, space=Space(distance))
    assert found is not None
    value = found.estimates["average_precision"].value
    assert value == pytest.approx(average_precision_score(positive, expected), abs=1e-6)
    assert found.estimates["precision"].value == pytest.approx(positive[expected >= threshold].mean(), abs=1e-6)
    bars = found.histogram
    assert sum(bars["negatives"]) + bars["below"] == (~positive).sum()  # type: ignore[arg-type,operator]
    assert sum(bars["positives"]) == positive.sum()  # type: ignore[arg-type]


def test_the_best_pairs_of_far_texts_are_found() -> None:
    vectors = drawn(30, 6, "l2", 6, length=50.0)
    found = best_pairs(as_left(vectors, Space("l2")), as_right(vectors, Space("l2")), True, top=10)
    pairs = np.array(list(combinations(range(30), 2)))
    expected = brute_force(vectors, *pairs.T, "l2")
    assert np.c_[found.left, found.right].tolist() == pairs[np.argsort(-expected)[:10]].tolist()
    assert found.score[-1] < -2
