"""FAISS returns its neighbours in the format of the exact search."""

import numpy as np
import pytest

from allpairs.learner.search.exact import as_pairs, nearest
from allpairs.learner.search.faiss import nearest_by_faiss

KINDS = ("faiss-flat", "faiss-hnsw", "faiss-ivf")


def unit(n: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def keys(pairs, rows: int) -> set[int]:  # type: ignore[no-untyped-def]
    return set(pairs.keys(rows).tolist())


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_flat_index_finds_what_the_exact_search_finds(symmetric: bool) -> None:
    left = unit(300, 0)
    right = left if symmetric else unit(200, 1)
    ours, theirs = nearest(left, right, 5, symmetric), nearest_by_faiss(left, right, 5, symmetric, "faiss-flat")
    assert keys(ours, 300) == keys(theirs, 300)


@pytest.mark.parametrize("kind", KINDS)
def test_most_true_neighbours_are_found_each_pair_once(kind: str) -> None:
    vectors = unit(500, 2)
    found = nearest_by_faiss(vectors, vectors, 5, True, kind)
    exact = keys(nearest(vectors, vectors, 5, True), 500)
    assert len(keys(found, 500)) == len(found)
    assert (found.left < found.right).all()
    assert len(exact & keys(found, 500)) > 0.5 * len(exact)


@pytest.mark.parametrize("kind", KINDS)
def test_more_neighbours_than_there_are(kind: str) -> None:
    found = nearest_by_faiss(unit(60, 3), unit(7, 4), 50, False, kind)
    assert found.right.min() >= 0
    assert len(keys(found, 60)) == len(found)


def test_missing_neighbours_are_dropped() -> None:
    ids, scores = np.array([[1, -1], [-1, 0], [2, 1]]), np.full((3, 2), 0.5, dtype=np.float32)
    found = as_pairs(ids, scores, symmetric=True)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 1), (1, 2)]
