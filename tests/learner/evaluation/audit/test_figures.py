"""The figures of one model: exact if every pair is labelled, and dependent only on the order of scores."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from allpairs.learner.evaluation.audit.figures import (
    PositivesByRank,
    as_estimate,
    audit_curve,
    figures,
    positives_by_rank,
)
from allpairs.learner.evaluation.audit.measure import View, measure
from allpairs.learner.evaluation.audit.ranking import rank_all
from allpairs.learner.evaluation.audit.sample import Posterior, Sample, draw_posterior
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.models.output_layer import OutputLayer
from tests.helpers.figures.audits import all_pairs, make_sides, normal_pool

patterns = st.lists(st.booleans(), min_size=1, max_size=60).filter(any)


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def known(positive: np.ndarray, ranks: np.ndarray, draws: int = 2) -> PositivesByRank:
    """Return what is found when every pair is labelled."""
    mass = np.tile(positive.astype(np.float64), (draws, 1))
    one_band = Posterior(np.full((draws, 1), positive.mean()), mass, np.ones_like(mass), ranks[-1:])
    return positives_by_rank(one_band, positive, ranks)


def many(seed: int, n: int = 3_000, shift: float = 2.0) -> np.ndarray:
    """Return positives (n,) of pairs by rank, denser at the top, with more than 15 pairs above a fifth of them."""
    scores = np.random.default_rng(seed).normal(0, 1, n)
    positive = np.arange(n) < n // 10
    return positive[np.argsort(-(scores + shift * positive))]


@given(patterns)
def test_average_precision_of_labelled_pairs_is_the_rankings(pattern: list[bool]) -> None:
    positive = np.array(pattern)
    ranks = np.arange(1.0, len(positive) + 1)
    found = known(positive, ranks)
    assert found.complete
    assert found.average_precision() == pytest.approx(np.full(2, average_precision_score(positive, -ranks)))


@pytest.mark.parametrize(("above", "positives", "pairs"), [(0, 3, 7), (2, 1, 6), (1, 5, 5), (3, 4, 20)])
def test_average_precision_is_the_mean_over_places_between_pairs(above: int, positives: int, pairs: int) -> None:
    """The first `above` of four pairs are positives, and so many of the pairs after them, wherever they lie."""
    rank, total = np.array([0.0, above, 4.0, 4.0 + pairs]), above + positives
    rank, found = np.unique(rank), np.array([0.0, above, above, total])[-len(np.unique(rank)) :]
    labels = np.where(rank <= 4, rank, 5.0)
    drawn = PositivesByRank(rank, found[None], labels, labels).average_precision()
    places = [np.r_[np.arange(1, above + 1), 5 + np.array(at)] for at in combinations(range(pairs), positives)]
    expected = np.mean([(np.arange(1, total + 1) / at).mean() for at in places])
    assert drawn == pytest.approx([expected])


@pytest.mark.parametrize("seed", range(5))
def test_with_every_pair_labelled_the_figures_are_exact(seed: int) -> None:
    positive = many(seed)
    ranks = np.arange(1.0, len(positive) + 1)
    threshold = 250.0
    drawn = figures(known(positive, ranks), threshold, rng())
    true = positive[:250].sum()
    fifth = np.cumsum(positive).searchsorted(0.2 * positive.sum()) + 1
    expected = {
        "average_precision": average_precision_score(positive, -ranks),
        "precision_at_recall_20": positive[:fifth].mean(),
        "positives": positive.sum(),
        "precision": true / 250,
        "recall": true / positive.sum(),
        "f1": 2 * true / (positive.sum() + 250),
    }
    assert drawn.keys() == expected.keys()
    for name, values in drawn.items():
        assert values == pytest.approx(np.full(2, expected[name]), abs=1e-9)


def test_with_all_pairs_labelled_the_estimates_are_exact() -> None:
    sides = make_sides(True, 80, seed=3)
    positive, rows, columns, scores = labelled(sides)
    layer = OutputLayer(9.0, -9.0 * 0.62)
    exact = evaluate_exact(sides.left, sides.left, np.column_stack([rows, columns])[positive], True, layer=layer)
    assert exact is not None
    sample = Sample(np.zeros(len(rows), dtype=np.int64), positive, np.ones(len(rows)), np.array([len(rows)]))
    view = View(rank_all(sides.left, sides.left, True), scores, layer.threshold)
    found = measure(sample, draw_posterior(sample, rng(), 50), view, rng())
    assert found.pairs == exact.pairs
    for name, estimate in found.estimates.items():
        assert (estimate.low, estimate.high, estimate.method) == (estimate.value, estimate.value, "exact"), name
        assert estimate.value == pytest.approx(exact.estimates[name].value), name
        assert estimate.labels == len(rows)


def labelled(sides: Sides) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return positives (n,) bool among all pairs, more at high scores; rows, columns and scores."""
    rows, columns, scores = all_pairs(sides)
    positive = np.random.default_rng(1).random(len(rows)) < 1 / (1 + np.exp(-8 * (scores - 0.7)))
    return positive, rows, columns, scores


@pytest.mark.parametrize("squeeze", [0.3, 0.8])
def test_a_monotone_transformation_of_the_scores_changes_nothing(squeeze: float) -> None:
    """Another coordinate maps each cosine c to a·c + 1 − a: the same order."""
    sides = make_sides(True, 60, seed=5)
    positive, *_, scores = labelled(sides)
    part = np.random.default_rng(2).permutation(len(scores))[:300]
    sample = Sample(np.zeros(300, dtype=np.int64), positive[part], np.full(300, len(scores) / 300.0),
                    np.array([len(scores)]))  # fmt: skip
    posterior = draw_posterior(sample, rng(), 200)
    squeezed = np.column_stack([np.sqrt(squeeze) * sides.left, np.full(60, np.sqrt(1 - squeeze))]).astype(np.float32)

    def measured(vectors: np.ndarray, seen: np.ndarray, threshold: float) -> dict[str, tuple[float, ...]]:
        view = View(rank_all(vectors, vectors, True), seen[part], threshold)
        estimates = measure(sample, posterior, view, rng()).estimates
        return {name: (one.value, one.low, one.high) for name, one in estimates.items()}

    before = measured(sides.left, scores, 0.7)
    after = measured(squeezed, squeeze * scores + 1 - squeeze, squeeze * 0.7 + 1 - squeeze)
    assert before.keys() == after.keys()
    for name, values in before.items():
        assert after[name] == pytest.approx(values, abs=0.02), name  # bins are as wide as before: ranks shift a little


@given(
    st.lists(st.tuples(st.integers(1, 10_000), st.floats(0, 50)), min_size=1, max_size=30),
    st.integers(1, 12_000),
    st.integers(0, 99),
)
def test_no_more_is_found_than_there_are_pairs(pairs: list[tuple[int, float]], threshold: int, seed: int) -> None:
    ranks, mass = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    pairs, ends = np.maximum(mass, 1.0), np.array([100.0, 2_000.0, 12_000.0])
    found = positives_by_rank(Posterior(np.full((1, 1), 0.5), mass[None], pairs[None], ends), mass >= 1, ranks)
    assert (np.diff(found.rank) > 0).all()
    assert (np.diff(found.cumulative, axis=1) >= -1e-9).all()
    assert (found.cumulative <= found.rank + 1e-9).all()
    drawn = figures(found, float(threshold), np.random.default_rng(seed))
    for name, values in drawn.items():
        assert np.isfinite(values).all(), name
        assert (values >= 0).all(), name
        assert name == "positives" or (values <= 1 + 1e-9).all(), name


def test_pairs_of_one_rank_are_found_together_in_whatever_order() -> None:
    mass, ranks = np.array([3.0, 0.0, 2.0, 1.0]), np.array([7.0, 7.0, 7.0, 20.0])
    pairs = np.array([3.0, 1.0, 3.0, 13.0])
    posterior = Posterior(np.ones((1, 1)), mass[None], pairs[None], np.array([20.0]))
    turned = Posterior(np.ones((1, 1)), mass[None, [2, 1, 0, 3]], pairs[None, [2, 1, 0, 3]], np.array([20.0]))
    for one in (posterior, turned):
        found = positives_by_rank(one, mass[:4] > 0, ranks)
        assert found.rank.tolist() == [0, 7, 20]
        assert found.cumulative[0] == pytest.approx([0, 5, 6])


def test_with_only_positives_precision_is_the_drawn_share() -> None:
    """Without the known ranks, draws that find fewer than that count, and those that find more are cut off."""
    sample = Sample(np.zeros(15, dtype=np.int64), np.ones(15, dtype=bool), np.full(15, 100.0), np.array([1_500]))
    ranks = np.sort(rng().choice(1_500, 15, replace=False)) + 1.0
    posterior = draw_posterior(sample, rng(), 400)
    average = positives_by_rank(posterior, sample.positive, ranks).average_precision()
    assert np.abs(average - posterior.rates[:, 0]).mean() < 0.01


def test_known_positives_are_found_at_their_own_ranks() -> None:
    pattern = many(1)
    given = pattern & (np.arange(len(pattern)) % 3 > 0)
    ranks = np.arange(1.0, len(pattern) + 1)
    left = pattern & ~given
    mass = np.tile(left[~given].astype(np.float64), (2, 1))
    posterior = Posterior(np.full((2, 1), left.mean()), mass, np.ones_like(mass), np.array([float(mass.shape[1])]))
    found = positives_by_rank(posterior, left[~given], ranks[~given], ranks[given])
    whole = known(pattern, ranks)
    assert found.positives == pytest.approx(whole.positives)
    assert found.average_precision() == pytest.approx(whole.average_precision(), abs=0.003)


def test_known_negatives_hold_no_positives_of_strata() -> None:
    pattern = many(1)
    settled = np.arange(len(pattern)) < 300  # the highest pairs, of which some match and some do not
    ranks = np.arange(1.0, len(pattern) + 1)
    below = pattern[~settled]
    weight = 9.0
    sampled = np.arange(len(below)) % weight == 4
    mass = np.tile(weight * below[sampled], (2, 1))
    ends = np.array([900.0, float(len(below))])
    posterior = Posterior(np.full((2, 2), below.mean()), mass, np.full_like(mass, weight), ends)
    known_ranks = ranks[settled & pattern], ranks[settled & ~pattern]
    by_rank = positives_by_rank(posterior, below[sampled], ranks[~settled][sampled], *known_ranks)
    assert by_rank.until(300, rng()) == pytest.approx(pattern[settled].sum())
    assert 1_200 in by_rank.rank  # the first band ends below the known pairs, too
    assert by_rank.labels[-1] == settled.sum() + sampled.sum()


def test_without_a_threshold_there_are_no_figures_at_it() -> None:
    found = known(many(0), np.arange(1.0, 3_001))
    at_it = {"precision", "recall", "f1"}
    assert figures(found, None, rng()).keys() & at_it == set()
    assert figures(found, 0.4, rng()).keys() & at_it == set()  # no pair reaches the threshold
    assert figures(found, 1.0, rng()).keys() >= at_it


def test_an_estimate_is_the_mean_and_the_central_98_per_cent() -> None:
    found = as_estimate(np.arange(1_001.0), 40)
    assert (found.value, found.low, found.high, found.method, found.labels) == (500, 10, 990, "audit", 40)


def test_a_curve_has_a_band_around_its_precision() -> None:
    source = np.random.default_rng(0)
    pool = normal_pool(4.0, 0.5, source, pairs=10**6)
    sample, ranks = pool.draw(np.full(len(pool.sizes), 40), source)
    sides = make_sides(False, 300, 200)
    ranking = rank_all(sides.left, sides.right, False)
    drawn = audit_curve(positives_by_rank(draw_posterior(sample, source, 200), sample.positive, ranks), ranking, source)
    assert drawn.low is not None and drawn.high is not None
    columns = (drawn.score, drawn.recall, drawn.precision, drawn.low, drawn.high)
    assert {len(column) for column in columns} == {100}
    assert (np.diff(drawn.recall) > 0).all() and drawn.recall[-1] == 1
    assert (np.diff(drawn.score) <= 0).all()
    assert (drawn.low <= drawn.precision).all() and (drawn.precision <= drawn.high).all()
    assert (drawn.low < drawn.high).all()
    assert ((drawn.precision >= 0) & (drawn.high <= 1)).all()
