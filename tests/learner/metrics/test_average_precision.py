"""Average precision and precision at recall, against the paper's definition and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from allpairs.learner.metrics.average_precision import (
    Confusion,
    Curve,
    average_precision,
    curve_from_counts,
    curve_from_scores,
    precision_at_recall,
    ranking_figures,
)

Rows = tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]

# score, label, weight
WORKED = np.array([(0.9, 1, 1), (0.8, 0, 1), (0.7, 1, 1), (0.7, 0, 10), (0.7, 0, 1), (0.4, 1, 1), (0.2, 0, 10)])


@st.composite
def weighted_rows(draw: st.DrawFn) -> Rows:
    """Draw scores with many ties, labels with a positive, and integer weights."""
    n = draw(st.integers(1, 30))
    scores = draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    assume(sum(labels) > 0)
    return np.array(scores) / 5, np.array(labels), np.array(weights)


def test_ties_and_weights_as_worked_out_by_hand() -> None:
    curve = curve_from_scores(*WORKED.T)
    assert curve.score.tolist() == [0.9, 0.7, 0.4]
    assert curve.precision == pytest.approx([1, 2 / 14, 3 / 15])
    assert average_precision(curve) == pytest.approx(0.4476190476, abs=1e-10)
    assert precision_at_recall(curve, 0.2) == 1
    assert precision_at_recall(curve, 0.5) == pytest.approx(0.142857, abs=1e-6)


def test_a_recall_that_is_met_exactly_counts() -> None:
    curve = curve_from_counts(np.array([0.9, 0.5]), np.array([1, 5]), np.array([0, 5]), 5)
    assert curve.recall[0] == 0.2
    assert precision_at_recall(curve, 0.2) == 1
    assert precision_at_recall(curve, 0.3) == 0.5


def test_recall_of_positives_that_no_threshold_reaches() -> None:
    curve = curve_from_counts(np.array([0.9]), np.array([1]), np.array([0]), 4)
    assert average_precision(curve) == 0.25


@given(weighted_rows())
def test_average_precision_is_that_of_scikit_learn(rows: Rows) -> None:
    scores, labels, weights = rows
    expected = average_precision_score(labels, scores, sample_weight=weights)
    assert average_precision(curve_from_scores(scores, labels, weights)) == pytest.approx(expected, abs=1e-12)


@given(weighted_rows())
def test_a_weight_is_a_row_repeated(rows: Rows) -> None:
    scores, labels, weights = rows
    weighted = curve_from_scores(scores, labels, weights)
    repeated = curve_from_scores(np.repeat(scores, weights), np.repeat(labels, weights))
    assert_same(weighted, repeated)


@given(weighted_rows())
def test_only_the_order_of_the_scores_matters(rows: Rows) -> None:
    scores, labels, weights = rows
    plain, bent = curve_from_scores(scores, labels, weights), curve_from_scores(np.exp(3 * scores), labels, weights)
    assert bent.recall.tolist() == plain.recall.tolist()
    assert bent.precision.tolist() == plain.precision.tolist()


@given(weighted_rows(), st.integers(0, 1000))
def test_the_order_of_the_rows_does_not_matter(rows: Rows, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows[0]))
    assert_same(curve_from_scores(*rows), curve_from_scores(*(column[order] for column in rows)))


def test_thinning_keeps_the_ends_and_stays_on_the_curve() -> None:
    rng = np.random.default_rng(0)
    whole = curve_from_scores(rng.normal(size=20_000), rng.integers(0, 2, 20_000))
    thin = whole.thinned(100)
    assert len(thin.score) <= 100
    assert (thin.recall[0], thin.recall[-1]) == (whole.recall[0], whole.recall[-1])
    points = set(zip(whole.score.tolist(), whole.precision.tolist(), strict=True))
    assert points.issuperset(zip(thin.score.tolist(), thin.precision.tolist(), strict=True))
    assert whole.thinned(20_000) is whole


def test_a_band_is_thinned_and_stored_with_its_curve() -> None:
    score, grid = np.linspace(1, 0, 900), np.linspace(0.001, 0.9, 900)
    curve = Curve(score, grid, grid, grid / 2, grid + 0.05)
    thin = curve.thinned(50)
    assert thin.low is not None and thin.high is not None
    assert len(thin.low) == len(thin.high) == len(thin.score) <= 50
    assert thin.low == pytest.approx(thin.precision / 2)
    assert set(thin.as_dict()) == {"recall", "precision", "score", "low", "high"}
    assert set(Curve(score, grid, grid).thinned(50).as_dict()) == {"recall", "precision", "score"}


def test_figures_at_a_threshold_as_worked_out_by_hand() -> None:
    found = Confusion(3, 1, 6).figures()
    assert found == pytest.approx({"precision": 0.75, "recall": 0.5, "f1": 0.6})
    assert Confusion(0, 0, 6).figures() == {"recall": 0, "f1": 0}  # where nothing is found there is no precision


def test_figures_at_no_threshold_are_those_of_the_ranking() -> None:
    curve = curve_from_scores(*WORKED.T)
    assert set(ranking_figures(curve, None)) == {"average_precision", "precision_at_recall_20"}
    assert ranking_figures(curve, Confusion(1, 0, 3))["recall"] == pytest.approx(1 / 3)


def assert_same(one: Curve, other: Curve) -> None:
    assert one.score.tolist() == other.score.tolist()
    assert one.recall == pytest.approx(other.recall)
    assert one.precision == pytest.approx(other.precision)
