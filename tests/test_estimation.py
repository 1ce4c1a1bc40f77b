"""Sampled figures over all pairs: unbiased, exact when everything is sampled, with intervals that cover."""

from itertools import combinations

import numpy as np
import pytest

from learner import estimation
from learner.estimation import Stratum, estimate, false_positives
from learner.metrics import average_precision, curve_from_counts, curve_from_scores

# Paper 004's estimator on six utterances (15 pairs in lexicographic order), computed by hand.
SCORES = np.array([0.95, 0.60, 0.30, 0.55, 0.10, 0.90, 0.20, 0.15, 0.65, 0.05, 0.35, 0.12, 0.70, 0.08, 0.02])
PAIRS = list(combinations(range(6), 2))
POSITIVE = np.isin(np.arange(15), [PAIRS.index(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
NEAR = np.isin(np.arange(15), [PAIRS.index(pair) for pair in [(0, 3), (0, 4), (1, 4), (2, 5)]])
REST = np.nonzero(~POSITIVE & ~NEAR)[0]


def strata(drawn: tuple[int, ...]) -> list[Stratum]:
    return [Stratum("near", 4, SCORES[NEAR]), Stratum("random", 8, SCORES[list(drawn)])]


def test_false_positives_are_unbiased_with_the_known_variance() -> None:
    thresholds = np.array([0.6, 0.5, 0.3])
    every = np.array([false_positives(strata(drawn), thresholds) for drawn in combinations(REST, 3)])
    assert len(every) == 56
    np.testing.assert_allclose(every.mean(0), [2, 3, 5])
    np.testing.assert_allclose(every.var(0), [2.857143, 2.857143, 3.571429], atol=1e-6)


def test_average_precision_is_a_ratio_and_not_unbiased() -> None:
    def value(drawn: tuple[int, ...]) -> float:
        found, _ = estimate(SCORES[POSITIVE], strata(drawn), "near-random", np.random.default_rng(0))
        return found["average_precision"].value

    every = [value(drawn) for drawn in combinations(REST, 3)]
    assert np.mean(every) == pytest.approx(0.893109, abs=1e-6)
    assert (min(every), max(every)) == (pytest.approx(0.786667, abs=1e-6), 1.0)
    assert value(tuple(REST)) == pytest.approx(0.866667, abs=1e-6)


def test_everything_sampled_is_exact_with_no_width() -> None:
    found, curve = estimate(SCORES[POSITIVE], strata(tuple(REST)), "near-random", np.random.default_rng(0))
    exact = curve_from_scores(SCORES, POSITIVE)
    assert found["average_precision"].value == pytest.approx(average_precision(exact))
    assert found["average_precision"].low == found["average_precision"].value == found["average_precision"].high
    np.testing.assert_allclose(curve.precision, exact.precision)


def test_a_stratum_without_a_false_positive_still_has_an_interval() -> None:
    none = [Stratum("random", 1_000_000, np.full(1_000, -0.5))]
    found, _ = estimate(np.linspace(0.5, 0.9, 50), none, "near-random", np.random.default_rng(0))
    for figure in found.values():
        assert figure.value == figure.high == 1.0
        assert figure.low < 0.2  # three negatives in a thousand could hide there: 3,000 false positives against 50


def test_a_monotone_transformation_changes_no_value() -> None:
    before, _ = estimate(SCORES[POSITIVE], strata((3, 4, 6)), "near-random", np.random.default_rng(0))
    squeezed = [Stratum(one.name, one.size, np.tanh(one.scores)) for one in strata((3, 4, 6))]
    after, _ = estimate(np.tanh(SCORES[POSITIVE]), squeezed, "near-random", np.random.default_rng(0))
    assert before == after


def test_intervals_cover_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three strata of different density, 200 samples: 95 % intervals cover at least 93 %."""
    monkeypatch.setattr(estimation, "DRAWS", 200)
    rng = np.random.default_rng(1)
    positives = rng.normal(0.7, 0.15, 200)
    populations = [rng.normal(0.6, 0.1, 500), rng.normal(0.35, 0.12, 20_000), rng.normal(0.1, 0.1, 400_000)]
    everything = np.concatenate([positives, *populations])
    labels = np.r_[np.ones(200), np.zeros(len(everything) - 200)]
    truth = average_precision(curve_from_scores(everything, labels))
    hits = 0
    for _ in range(200):
        drawn = [populations[0], rng.choice(populations[1], 1_000, False), rng.choice(populations[2], 4_000, False)]
        sampled = [Stratum("", len(whole), part) for whole, part in zip(populations, drawn, strict=True)]
        found = estimate(positives, sampled, "stratified", rng)[0]["average_precision"]
        hits += found.low <= truth <= found.high
    assert hits >= 0.93 * 200


def test_counts_and_scores_make_the_same_curve() -> None:
    curve = curve_from_scores(SCORES, POSITIVE)
    false = false_positives([Stratum("all", 12, SCORES[~POSITIVE])], curve.score)
    same = curve_from_counts(curve.score, np.array([1, 2, 3]), false, 3)
    np.testing.assert_allclose(same.precision, curve.precision)
