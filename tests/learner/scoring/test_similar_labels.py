"""The labelled pairs most similar to a pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.scoring.similar_labels import most_alike


def vectors(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 4)).astype(np.float32)


@given(st.integers(0, 12), st.integers(0, 12), st.booleans(), st.integers(1, 4), st.integers(0, 99))
def test_as_all_comparisons_would_say(n: int, m: int, symmetric: bool, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    texts = vectors(8, seed)
    pairs, labelled = rng.integers(0, 8, (n, 2)), rng.integers(0, 8, (m, 2))
    unit = texts / np.linalg.norm(texts, axis=1, keepdims=True)
    places, alike = most_alike(texts, pairs, labelled, symmetric, k)
    assert places.shape == alike.shape == (n, min(k, m))
    for row, (a, b) in enumerate(pairs):
        ways = [(unit[a] @ unit[c] + unit[b] @ unit[d]) / 2 for c, d in labelled]
        if symmetric:
            turned = [(unit[a] @ unit[d] + unit[b] @ unit[c]) / 2 for c, d in labelled]
            ways = [max(way, other) for way, other in zip(ways, turned, strict=True)]
        assert alike[row] == pytest.approx(sorted(ways, reverse=True)[:k], abs=1e-5)
        assert [ways[place] for place in places[row]] == pytest.approx(alike[row].tolist(), abs=1e-5)


def test_a_pair_is_most_like_itself_whichever_way_round() -> None:
    texts = vectors(6)
    labelled = np.array([[0, 1], [4, 2], [3, 5]])
    places, alike = most_alike(texts, np.array([[2, 4]]), labelled, symmetric=True, k=1)
    assert (places[0, 0], alike[0, 0]) == (1, pytest.approx(1))
    places, _ = most_alike(texts, np.array([[3, 5]]), labelled, symmetric=False, k=1)
    assert places[0, 0] == 2
