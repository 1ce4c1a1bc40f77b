"""The benchmark of estimators: pools by rank, the peers' estimators, and the methods' labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.metrics.average_precision import curve_from_counts
from benchmarks.data.pools import FIGURES, Pool, bands_to, draw_ranks, simulated
from benchmarks.data.real_pools import ranks_of
from benchmarks.quality.audit_methods import METHODS, equal_shares, our_strata
from benchmarks.quality.audits import Result, rows, verdict
from benchmarks.quality.oasis_peer import Sampler, f_interval, sample
from benchmarks.quality.oasis_strata import calibrate, csf_strata
from benchmarks.quality.weighted import answer, figures

POOL = Pool("small", 20_000, np.array([1, 2, 4, 7, 8, 15, 30, 90, 400, 3_000]), np.linspace(0, 1, 10))
RANKS = st.sets(st.integers(1, 500), min_size=1, max_size=40)


def test_the_truth_of_a_pool_is_what_the_definitions_say() -> None:
    average = np.mean([1, 1, 3 / 4, 4 / 7, 5 / 8, 6 / 15, 7 / 30, 8 / 90, 9 / 400, 10 / 3_000])
    assert POOL.truth() == pytest.approx([average, 2 * 5 / 20, 1.0, 5 / 10, 10])


def test_a_simulated_pool_is_repeatable_and_its_ranks_ascend() -> None:
    pool = simulated("A")
    assert np.array_equal(pool.positives, simulated("A").positives)
    assert (np.diff(pool.positives) > 0).all()
    assert pool.positives[-1] <= pool.pairs


def test_bands_double_from_the_top_and_end_with_the_pairs() -> None:
    assert bands_to(10**8, 128, 1_000).tolist() == [0, 128, 256, 512, 1_024]
    assert bands_to(700, 128, 1_000).tolist() == [0, 128, 256, 512, 700]


def test_our_strata_hold_every_pair_and_every_positive_of_a_pool() -> None:
    pool = simulated("C")
    parts = our_strata(pool)
    assert sum(part.size for part in parts) == pool.pairs
    assert np.array_equal(np.sort(np.concatenate([part.positives for part in parts])), pool.positives)
    first, rest = parts[-2:]
    assert (first.band, first.until) == (rest.band, rest.until)
    assert first.size / rest.size == pytest.approx(1 / 63, rel=0.01)
    assert len(first.positives) > len(rest.positives) / 10  # words tell something in this pool
    ranks, positive = first.draw(1_000, np.random.default_rng(0))
    assert set(ranks[positive]) <= set(first.positives.tolist())


def test_drawn_ranks_lie_between_the_edges_each_once() -> None:
    drawn = draw_ranks(10, 20, 100, np.random.default_rng(0))
    assert sorted(drawn) == list(range(11, 21))


@given(RANKS)
def test_with_all_pairs_labelled_the_weighted_figures_are_true(ranks: set[int]) -> None:
    pool = Pool("all", 500, np.array(sorted(ranks)), np.zeros(len(ranks)))
    everything = [np.arange(1, 501)]
    value, low, high = answer(pool, np.array([0, 500]), everything, np.random.default_rng(0)).T
    assert value == pytest.approx(pool.truth())
    assert (low <= high).all()


def test_a_positive_stands_for_its_weight() -> None:
    ranks, weight = np.array([2, 40]), np.array([[1.0, 10.0]])
    average, f1, at_20, recall, positives = figures(ranks, weight, 2)[0]
    assert average == pytest.approx((1 / 2 + 10 * 6.5 / 40) / 11)
    assert f1 == pytest.approx(2 * 1 / (2 + 11))
    assert at_20 == pytest.approx(11 / 40)
    assert recall == pytest.approx(1 / 11)
    assert positives == 11


@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(0, 300))
def test_equal_shares_spend_the_labels_and_differ_at_the_end(available: list[int], labels: int) -> None:
    shares = equal_shares(np.array(available), labels)
    assert shares.sum() == min(labels, sum(available))
    assert (shares <= available).all()
    short = shares < available
    assert not short.any() or shares[short].max() - shares[short].min() <= 1


def test_calibrated_scores_fall_and_sum_to_the_positives() -> None:
    calibrated = calibrate(POOL)
    assert (np.diff(calibrated.chance) <= 0).all()
    assert calibrated.below[-1] == pytest.approx(len(POOL.positives), rel=0.5)


def test_oasis_strata_cover_all_pairs() -> None:
    strata = csf_strata(calibrate(POOL))
    assert strata.sizes.sum() == POOL.pairs
    assert (strata.sizes > 0).all()
    assert (np.diff(strata.chance) < 0).all()


def test_oasis_spends_its_labels_and_estimates_from_its_draws() -> None:
    strata = csf_strata(calibrate(POOL))
    draws = sample(POOL, strata, 300, np.random.default_rng(0))
    assert len(set(draws.rank.tolist())) == 300
    assert len(set(draws.until(100).rank.tolist())) == 100
    sampler = Sampler(POOL, strata, np.random.default_rng(0))
    for _ in draws.rank:
        sampler.draw()
    assert sampler.estimate == pytest.approx(f_interval(draws, POOL.threshold)[0])


def test_oasis_is_right_on_average() -> None:
    strata = csf_strata(calibrate(POOL))
    drawn = [sample(POOL, strata, 500, np.random.default_rng(seed)) for seed in range(40)]
    error = np.array([f_interval(draws, POOL.threshold)[0] for draws in drawn]) - POOL.truth()[1]
    assert abs(error.mean()) < 3 * error.std() / np.sqrt(len(error)) + 0.02


@pytest.mark.parametrize("method", METHODS)
def test_every_method_answers_at_every_budget(method: str) -> None:
    answers = METHODS[method](POOL, (200, 400), np.random.default_rng(0))
    assert answers.shape == (2, len(FIGURES), 3)
    assert np.isfinite(answers[..., 0]).all()


def test_ranks_come_back_from_an_exact_curve() -> None:
    # scores 0.9, 0.8 (a positive and a negative), 0.7: true and false positives at each
    curve = curve_from_counts(np.array([0.9, 0.8, 0.7]), np.array([1, 3, 4]), np.array([0, 1, 5]), 4)
    assert ranks_of(curve, 4).tolist() == [1, 3, 4, 9]


def test_the_table_has_a_line_for_each_budget_and_method() -> None:
    right = np.array([[value, value - 0.001, value + 0.001] for value in POOL.truth()])
    results = [Result(POOL, method, np.tile(right, (5, 2, 1, 1))) for method in METHODS]
    lines = rows(results, (300, 1_000))
    assert len(lines) == 2 + 2 * len(METHODS)
    assert "1.00, 0.002" in lines[2]
    worse = [Result(POOL, result.method, result.answers + 0.1 * (result.method == "OASIS")) for result in results]
    head, _, first, second = verdict([worse[0], worse[list(METHODS).index("OASIS")]], (300, 1_000))
    for line, budget in ((first, "300"), (second, "1,000")):
        cells = dict(zip(head.split("|"), line.split("|"), strict=True))
        assert (cells[" labels "], cells[" RMSE "], cells[" width "]) == (f" {budget} ", " **0.000** ", " 0.002 ")
        assert cells[" best other "] == " 0.100 (OASIS) "
        assert cells[" covered: AP "] == cells[" positives "] == " 1.00 "
