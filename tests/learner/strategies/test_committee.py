"""The committee: it learns, it disagrees where labels are silent, and it is quick."""

import time

import numpy as np
import pytest

from allpairs.db.errors import InputError
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer, sigmoid
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.nearest import Near
from allpairs.learner.strategies.committee import HEADS, committee, fit_heads
from allpairs.learner.strategies.pool import Background, Pool


def unit(vectors: np.ndarray) -> np.ndarray:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def pool_of(vectors: np.ndarray, pairs: np.ndarray, labelled: Labelled) -> Pool:
    candidates = Pairs(*pairs.T, np.zeros(len(pairs), dtype=np.float32))
    near = Near(candidates, "exact", len(vectors))
    return Pool(lambda: near, OutputLayer(1, 0), lambda n, rng: candidates.take(np.arange(n)), vectors,
                40, Background(labelled))  # fmt: skip


def test_the_heads_learn_and_differ() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 5))
    label = (features[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(np.int64)
    heads = fit_heads(features, Labelled(np.arange(400), np.arange(400), label), rng)
    assert heads.shape == (6, HEADS)
    p = sigmoid(np.c_[features, np.ones(400)] @ heads)
    assert (((p > 0.5) == label[:, None]).mean(0) > 0.9).all()
    assert (p.std(1) > 0).all()


def test_it_asks_about_what_the_labels_do_not_show() -> None:
    """Labelled pairs lie in the first coordinates; half of the candidates lie there, half in others."""
    rng = np.random.default_rng(1)
    known, new = np.zeros((60, 16)), np.zeros((60, 16))
    known[:, :8], new[:, 8:] = rng.normal(size=(60, 8)), rng.normal(size=(60, 8))
    vectors = unit(np.vstack([known, new]))
    left, right = rng.integers(0, 60, (2, 300))
    label = ((vectors[left] * vectors[right]).sum(1) > 0.2).astype(np.int64)
    pairs = np.vstack([rng.integers(0, 60, (40, 2)), rng.integers(60, 120, (40, 2))])
    asked = committee(pool_of(vectors, pairs, Labelled(left, right, label)), 20, rng)
    assert (asked.left >= 60).mean() > 0.6


def test_labels_of_one_class_are_not_enough() -> None:
    vectors, pairs = unit(np.eye(4)), np.array([(0, 1), (2, 3)])
    with pytest.raises(InputError, match="both kinds"):
        committee(pool_of(vectors, pairs, Labelled(*np.ones((3, 2), dtype=np.int64))), 1, np.random.default_rng(0))


def test_a_hundred_thousand_candidates_take_seconds_at_most() -> None:
    rng = np.random.default_rng(2)
    vectors = unit(rng.normal(size=(5_000, 384)))
    labelled = Labelled(*rng.integers(0, 5_000, (2, 500)), rng.integers(0, 2, 500))
    pool = pool_of(vectors, rng.integers(0, 5_000, (100_000, 2)), labelled)
    start = time.perf_counter()
    assert len(committee(pool, 100, rng)) == 100
    assert time.perf_counter() - start < 10  # about one on an idle core
