"""HNSW returns its neighbours in the format of the exact search."""

import numpy as np

from allpairs.learner.search.exact import nearest, neighbour_pairs
from allpairs.learner.search.hnsw import nearest_by_hnsw


def unit(n: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((n, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def keys(pairs, rows: int) -> set[int]:  # type: ignore[no-untyped-def]
    return set(pairs.keys(rows).tolist())


def test_most_true_neighbours_are_found_each_pair_once() -> None:
    vectors = unit(500, 2)
    found = nearest_by_hnsw(vectors, vectors, 5, True, np.random.default_rng(0))
    exact = keys(nearest(vectors, vectors, 5, True), 500)
    assert len(keys(found, 500)) == len(found)
    assert (found.left < found.right).all()
    assert len(exact & keys(found, 500)) > 0.5 * len(exact)


def test_more_neighbours_than_there_are() -> None:
    found = nearest_by_hnsw(unit(60, 3), unit(7, 4), 50, False, np.random.default_rng(0))
    assert found.right.min() >= 0
    assert len(keys(found, 60)) == len(found)


def test_missing_neighbours_are_dropped() -> None:
    ids, scores = np.array([[1, -1], [-1, 0], [2, 1]]), np.full((3, 2), 0.5, dtype=np.float32)
    found = neighbour_pairs(ids, scores, symmetric=True)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 1), (1, 2)]
