"""Exact evaluation, against brute force over all pairs and scikit-learn, with ties and small blocks."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score

from allpairs.db.errors import Cancelled
from allpairs.learner.evaluation.calibration import reliability
from allpairs.learner.evaluation.exact import TIE, AllPairs, evaluate_exact
from allpairs.learner.metrics.average_precision import curve_from_scores, precision_at_recall
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.search import exact as search
from tests.helpers.machine import examples

BINS = ("edges", "positives", "negatives", "below")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "ROWS", 3)
    monkeypatch.setattr(search, "PARTS", 2)
    monkeypatch.setattr(search, "COLUMNS", 5)


properties = settings(max_examples=examples(80), suppress_health_check=[HealthCheck.function_scoped_fixture])


def drawn_vectors(rng: np.random.Generator, n: int, d: int, repeated: bool) -> np.ndarray:
    """Return random unit vectors, some of them equal if `repeated`."""
    vectors = rng.normal(size=(n, d)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors[rng.integers(0, max(1, n // 3), n)] if repeated else vectors


def drawn_positives(rng: np.random.Generator, n: int, m: int, symmetric: bool) -> np.ndarray:
    pairs = list(combinations(range(n), 2) if symmetric else product(range(n), range(m)))
    chosen = rng.choice(len(pairs), size=rng.integers(1, len(pairs) + 1), replace=False)
    return np.array(pairs, dtype=np.int64)[chosen]


def brute_force(
    left: np.ndarray, right: np.ndarray, positives: np.ndarray, symmetric: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return score and label of every pair. Scores are rounded so that equal vectors give equal scores."""
    scores = np.round(left.astype(np.float64) @ right.astype(np.float64).T, 7)
    labels = np.zeros(scores.shape, dtype=int)
    labels[positives[:, 0], positives[:, 1]] = 1
    kept = np.triu_indices(len(left), 1) if symmetric else np.indices(scores.shape).reshape(2, -1)
    return scores[kept[0], kept[1]], labels[kept[0], kept[1]]


def values(found: AllPairs | None) -> tuple[float, float]:
    assert found is not None
    return found.estimates["average_precision"].value, found.estimates["precision_at_recall_20"].value


@properties
@given(
    st.integers(2, 14), st.integers(2, 14), st.sampled_from([3, 64]), st.booleans(), st.booleans(),
    st.integers(0, 10**6),
)  # fmt: skip
def test_it_equals_brute_force(n: int, m: int, d: int, symmetric: bool, repeated: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = drawn_vectors(rng, n, d, repeated)
    right = left if symmetric else drawn_vectors(rng, m, d, repeated)
    positives = drawn_positives(rng, n, len(right), symmetric)
    scores, labels = brute_force(left, right, positives, symmetric)
    assume((np.diff(np.unique(scores)) > 2 * TIE).all())
    found = evaluate_exact(left, right, positives, symmetric)
    expected = average_precision_score(labels, scores)
    at_20 = precision_at_recall(curve_from_scores(scores, labels), 0.2)
    assert values(found) == pytest.approx((expected, at_20), abs=1e-6)
    assert found is not None
    assert (found.pairs, found.positives) == (len(scores), len(positives))


@pytest.mark.parametrize("d", [5, 32, 384])
def test_a_negative_with_a_positives_vectors_is_a_false_positive(d: int) -> None:
    rng = np.random.default_rng(d)
    once = drawn_vectors(rng, 40, d, False)
    vectors = np.concatenate([once, once])  # item i + 40 has the text of item i
    positives = np.array([(i, i + 1) for i in range(0, 40, 2)])
    found = evaluate_exact(vectors, vectors, positives, symmetric=True)
    scores, labels = brute_force(vectors, vectors, positives, symmetric=True)
    assert values(found)[0] == pytest.approx(average_precision_score(labels, scores), abs=1e-6)


@pytest.mark.parametrize("symmetric", [True, False])
def test_the_histogram_counts_every_pair_once(symmetric: bool) -> None:
    rng = np.random.default_rng(4)
    left = drawn_vectors(rng, 30, 3, False)
    right = left if symmetric else drawn_vectors(rng, 20, 3, False)
    positives = drawn_positives(rng, 30, len(right), symmetric)[:25]
    found = evaluate_exact(left, right, positives, symmetric)
    assert found is not None
    scores, labels = brute_force(left, right, positives, symmetric)
    edges, hits, negatives, below = map(np.array, (found.histogram[name] for name in BINS))
    assert hits.sum() == found.positives == len(positives)
    assert negatives.sum() + hits.sum() + below == found.pairs == len(scores)
    assert edges[0] == pytest.approx(scores[labels == 1].min(), abs=2 * TIE)
    assert below == (scores < edges[0] - TIE).sum()
    assert negatives == pytest.approx(np.histogram(scores[labels == 0], edges)[0], abs=2)


def test_a_perfect_matcher() -> None:
    vectors = np.repeat(np.eye(10, dtype=np.float32), 2, axis=0)
    positives = np.array([(2 * i, 2 * i + 1) for i in range(10)])
    assert values(evaluate_exact(vectors, vectors, positives, symmetric=True)) == (1, 1)


def test_all_pairs_alike() -> None:
    vectors = np.ones((6, 1), dtype=np.float32)
    found = evaluate_exact(vectors, vectors, np.array([(0, 1), (2, 5), (3, 4)]), symmetric=True)
    assert values(found) == pytest.approx((0.2, 0.2))


def test_the_figures_are_exact_and_say_so() -> None:
    vectors = np.eye(3, dtype=np.float32)
    found = evaluate_exact(vectors, vectors, np.array([(0, 1)]), symmetric=True)
    assert found is not None
    for estimate in found.estimates.values():
        assert estimate.low == estimate.value == estimate.high
        assert estimate.method == "exact"


@properties
@given(
    st.integers(2, 14), st.sampled_from([3, 64]), st.booleans(), st.floats(0.5, 30), st.floats(-0.9, 0.9),
    st.integers(0, 10**6),
)  # fmt: skip
def test_figures_at_the_threshold_equal_brute_force(
    n: int, d: int, symmetric: bool, w: float, threshold: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    left = drawn_vectors(rng, n, d, False)
    right = left if symmetric else drawn_vectors(rng, 9, d, False)
    positives = drawn_positives(rng, n, len(right), symmetric)
    scores, labels = brute_force(left, right, positives, symmetric)
    layer = OutputLayer(w, -w * threshold)
    p = layer.probability(scores)
    assume((np.abs(20 * p - (20 * p).round()) > 1e-4).all())  # no pair on the edge of a bin, or at the threshold
    found = evaluate_exact(left, right, positives, symmetric, layer=layer)
    assert found is not None
    plain = evaluate_exact(left, right, positives, symmetric)
    assert plain is not None
    assert values(found) == values(plain)
    assert found.histogram == plain.histogram
    figures = {name: estimate.value for name, estimate in found.estimates.items()}
    hits = p >= 0.5
    assert figures["recall"] == pytest.approx(hits[labels == 1].mean())
    assert figures["f1"] == pytest.approx(f1_score(labels, hits, zero_division=0.0))
    assert figures.get("precision", "none") == (pytest.approx(labels[hits].mean()) if hits.any() else "none")
    bins = reliability(p[labels == 1], True) + reliability(p[labels == 0], False)
    assert figures["calibration_error"] == pytest.approx(bins.error, abs=1e-5)


def test_a_layer_without_a_threshold_adds_no_figure() -> None:
    vectors = np.eye(3, dtype=np.float32)
    found = evaluate_exact(vectors, vectors, np.array([(0, 1)]), symmetric=True, layer=OutputLayer(0.0, 0.3))
    assert found is not None
    assert set(found.estimates) == {"average_precision", "precision_at_recall_20", "positives"}
    assert found.strata == [{"name": "all pairs", "size": 3, "sampled": 3, "positives": 1, "weight": 1.0}]


def test_it_can_be_stopped_after_any_block() -> None:
    vectors = drawn_vectors(np.random.default_rng(0), 14, 3, False)
    seen: list[float] = []

    def stop(stage: str, done: float) -> None:
        seen.append(done)
        if len(seen) == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        evaluate_exact(vectors, vectors, np.array([(0, 1)]), symmetric=True, progress=stop)
    assert seen == [pytest.approx(1 / 6)] * 2  # two blocks of the first rows: half of the first of three parts


def test_without_a_positive_there_is_nothing_to_measure() -> None:
    vectors = np.eye(3, dtype=np.float32)
    assert evaluate_exact(vectors, vectors, np.empty((0, 2), dtype=np.int64), symmetric=True) is None
