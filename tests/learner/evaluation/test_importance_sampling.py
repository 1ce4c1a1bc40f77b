"""Sampled figures over all pairs: unbiased, exact when everything is sampled, with intervals that cover."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest

from allpairs.learner.evaluation import importance_sampling
from allpairs.learner.evaluation.calibration import reliability
from allpairs.learner.evaluation.importance_sampling import Stratum, estimate_from_strata, false_positives
from allpairs.learner.metrics.average_precision import average_precision, curve_from_counts, curve_from_scores
from allpairs.learner.models.output_layer import OutputLayer

# The estimator of Mussmann, Jia and Liang (2020) on six utterances (15 pairs in lexicographic order), computed by hand.
SCORES = np.array([0.95, 0.60, 0.30, 0.55, 0.10, 0.90, 0.20, 0.15, 0.65, 0.05, 0.35, 0.12, 0.70, 0.08, 0.02])
PAIRS = list(combinations(range(6), 2))
POSITIVE = np.isin(np.arange(15), [PAIRS.index(pair) for pair in [(0, 1), (0, 2), (1, 2)]])
NEAR = np.isin(np.arange(15), [PAIRS.index(pair) for pair in [(0, 3), (0, 4), (1, 4), (2, 5)]])
REST = np.nonzero(~POSITIVE & ~NEAR)[0]


LAYER = OutputLayer(20.0, -6.4)  # threshold 0.32, between two scores
WIDE = OutputLayer(20.0, -10.0)


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importance_sampling, "DRAWS", 2)


def strata(drawn: tuple[int, ...]) -> list[Stratum]:
    return [Stratum("near", 4, SCORES[NEAR]), Stratum("random", 8, SCORES[list(drawn)])]


def test_false_positives_are_unbiased_with_the_known_variance() -> None:
    thresholds = np.array([0.6, 0.5, 0.3])
    every = np.array([false_positives(strata(drawn), thresholds) for drawn in combinations(REST, 3)])
    assert len(every) == 56
    np.testing.assert_allclose(every.mean(0), [2, 3, 5])
    np.testing.assert_allclose(every.var(0), [2.857143, 2.857143, 3.571429], atol=1e-6)


@pytest.mark.usefixtures("few_draws")
def test_average_precision_is_a_ratio_and_not_unbiased() -> None:
    def value(drawn: tuple[int, ...]) -> float:
        found = estimate_from_strata(SCORES[POSITIVE], strata(drawn), "near-random", np.random.default_rng(0))
        return found.estimates["average_precision"].value

    every = [value(drawn) for drawn in combinations(REST, 3)]
    assert np.mean(every) == pytest.approx(0.893109, abs=1e-6)
    assert (min(every), max(every)) == (pytest.approx(0.786667, abs=1e-6), 1.0)
    assert value(tuple(REST)) == pytest.approx(0.866667, abs=1e-6)


def test_everything_sampled_is_exact_with_no_width() -> None:
    found = estimate_from_strata(SCORES[POSITIVE], strata(tuple(REST)), "near-random", np.random.default_rng(0), LAYER)
    exact = curve_from_scores(SCORES, POSITIVE)
    assert found.estimates["average_precision"].value == pytest.approx(average_precision(exact))
    for figure in found.estimates.values():
        assert figure.low == pytest.approx(figure.value) == figure.high
    np.testing.assert_allclose(found.curve.precision, exact.precision)
    np.testing.assert_allclose(found.curve.low, exact.precision)
    np.testing.assert_allclose(found.curve.high, exact.precision)


def test_sampling_everything_gives_exact_threshold_figures() -> None:
    found = estimate_from_strata(
        SCORES[POSITIVE], strata(tuple(REST)), "near-random", np.random.default_rng(0), LAYER
    ).estimates
    p = LAYER.probability(SCORES)
    hits = SCORES >= 0.32
    assert found["precision"].value == pytest.approx(POSITIVE[hits].mean())
    assert found["recall"].value == pytest.approx(hits[POSITIVE].mean())
    assert found["positives"].value == 3
    bins = reliability(p[POSITIVE], True) + reliability(p[~POSITIVE], False)
    assert found["calibration_error"].value == pytest.approx(bins.error)


def test_all_pairs_are_counted_in_strata_and_histogram() -> None:
    found = estimate_from_strata(SCORES[POSITIVE], strata((3, 4, 6)), "near-random", np.random.default_rng(0), LAYER)
    assert (found.pairs, found.positives) == (15, 3)
    assert [row["size"] for row in found.strata] == [3, 4, 8]
    assert [row["positives"] for row in found.strata] == [3, 0, 0]
    assert found.strata[2] == {"name": "random", "size": 8, "sampled": 3, "positives": 0, "weight": 8 / 3}
    bars = found.histogram
    assert sum(bars["positives"]) + sum(bars["negatives"]) + bars["below"] == pytest.approx(15)  # type: ignore[arg-type, operator]
    assert all(figure.labels == 7 for figure in found.estimates.values())


def test_a_stratum_without_a_false_positive_has_an_interval() -> None:
    none = [Stratum("random", 1_000_000, np.full(1_000, -0.5))]
    found = estimate_from_strata(np.linspace(0.5, 0.9, 50), none, "near-random", np.random.default_rng(0), LAYER)
    for name in ("average_precision", "precision_at_recall_20", "precision"):
        figure = found.estimates[name]
        assert figure.value == figure.high == 1.0
        assert figure.low < 0.2  # three negatives in a thousand could hide there: 3,000 false positives against 50
    assert found.curve.low is not None and found.curve.low[-1] < 0.05
    assert found.estimates["calibration_error"].low < found.estimates["calibration_error"].high


def test_one_hidden_pair_is_reckoned_with_once() -> None:
    """Nine small strata beside a large one hardly widen the interval: its weight is the largest."""
    positives, large = np.linspace(0.5, 0.9, 50), Stratum("large", 100_000, np.full(1_000, -0.5))
    small = [Stratum("small", 90_000, np.full(1_000, -0.5))] * 9
    alone, all_ten = (
        estimate_from_strata(positives, sampled, "", np.random.default_rng(0)).estimates["average_precision"].low
        for sampled in ([large], [large, *small])
    )
    assert all_ten == pytest.approx(alone, abs=0.01)


def test_a_monotone_transformation_changes_no_value() -> None:
    before = estimate_from_strata(SCORES[POSITIVE], strata((3, 4, 6)), "near-random", np.random.default_rng(0))
    squeezed = [Stratum(one.name, one.size, np.tanh(one.scores)) for one in strata((3, 4, 6))]
    after = estimate_from_strata(np.tanh(SCORES[POSITIVE]), squeezed, "near-random", np.random.default_rng(0))
    assert before.estimates == after.estimates


Sampled = tuple[list[np.ndarray], list[int]]


def three_strata(rng: np.random.Generator) -> Sampled:
    return [rng.normal(0.6, 0.1, 500), rng.normal(0.35, 0.12, 20_000), rng.normal(0.1, 0.1, 200_000)], [
        500,
        1_000,
        4_000,
    ]


def near_and_random(rng: np.random.Generator) -> Sampled:
    return [rng.normal(0.5, 0.1, 2_000), rng.normal(0.2, 0.1, 200_000)], [2_000, 3_000]


def random_without_hits(rng: np.random.Generator) -> Sampled:
    """Return twenty false positives in the random stratum, which a sample hardly ever contains."""
    return [rng.normal(0.5, 0.1, 2_000), np.r_[rng.normal(0.1, 0.05, 200_000), np.full(20, 0.95)]], [2_000, 2_000]


def strata_alike(rng: np.random.Generator) -> Sampled:
    """Return four strata that each hide a few false positives among the best pairs."""
    return [np.r_[rng.normal(0.1, 0.05, 20_000), rng.normal(0.7, 0.1, 12)] for _ in range(4)], [1_000] * 4


@pytest.mark.parametrize("population", [three_strata, near_and_random, random_without_hits, strata_alike])
@pytest.mark.parametrize(
    ("seed", "runs", "least"),
    [
        (1, 50, 41),  # of which one run in a thousand has fewer
        pytest.param(1, 200, 186, marks=pytest.mark.slow),
        pytest.param(2, 200, 186, marks=pytest.mark.slow),
    ],
)
def test_intervals_cover_the_truth(
    population: Callable[[np.random.Generator], Sampled],
    seed: int,
    runs: int,
    least: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The 95 % intervals of every figure cover the truth in at least 93 % of many samples."""
    monkeypatch.setattr(importance_sampling, "DRAWS", 100)
    rng = np.random.default_rng(seed)
    positives = rng.normal(0.7, 0.15, 60)
    parts, sizes = population(rng)
    truth = estimate_from_strata(positives, [Stratum("", len(part), part) for part in parts], "", rng, WIDE)
    held = dict.fromkeys(truth.estimates, 0)
    for _ in range(runs):
        drawn = [rng.choice(part, n, False) for part, n in zip(parts, sizes, strict=True)]
        sampled = [Stratum("", len(part), scores) for part, scores in zip(parts, drawn, strict=True)]
        for name, found in estimate_from_strata(positives, sampled, "", rng, WIDE).estimates.items():
            held[name] += found.low - 1e-9 <= truth.estimates[name].value <= found.high + 1e-9
    assert min(held.values()) >= least, held


def test_counts_and_scores_make_the_same_curve() -> None:
    curve = curve_from_scores(SCORES, POSITIVE)
    false = false_positives([Stratum("all", 12, SCORES[~POSITIVE])], curve.score)
    same = curve_from_counts(curve.score, np.array([1, 2, 3]), false, 3)
    np.testing.assert_allclose(same.precision, curve.precision)
