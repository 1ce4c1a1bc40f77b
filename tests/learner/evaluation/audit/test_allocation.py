"""Allocation: equal first, then half where it gains most; and the labels needed to halve an interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.evaluation.audit.allocation import (
    FIRST,
    Gain,
    allocate,
    banded_average_precision,
    gain_of,
    labels_to_halve,
)
from allpairs.learner.evaluation.audit.figures import positives_by_rank
from allpairs.learner.evaluation.audit.sample import draw_posterior
from tests.helpers.figures.audits import normal_pool


def gain(*most: float) -> Gain:
    """Return the gain of strata whose labels tell so much of AP, as if each label told as much as the first."""
    return Gain(np.array(most), np.ones(len(most)), np.zeros(len(most)))


def test_the_gain_of_a_label_is_the_drop_in_the_variance_of_ap() -> None:
    """With two possible shares for each stratum, the mean variance after a label follows by Bayes' rule."""
    sizes = np.array([100, 900])
    rates = np.array([[a, b] for a in (0.2, 0.8) for b in (0.01, 0.3)])
    average = banded_average_precision(rates, sizes)
    found = gain_of(rates, sizes).next(np.zeros(2))
    for stratum in range(2):
        chance = rates[:, stratum]  # of a positive label, under each of the equally likely pairs of shares
        after = 0.0
        for weight in (chance, 1 - chance):
            mean = np.average(average, weights=weight)
            after += weight.mean() * np.average((average - mean) ** 2, weights=weight)
        assert found[stratum] == pytest.approx(average.var() - after)


def test_known_positives_count_as_pairs_of_their_stratum() -> None:
    rates, sizes, known = np.array([[0.5, 0.1], [0.8, 0.2]]), np.array([40, 60]), np.array([10.0, 5.0])
    with_them = banded_average_precision((rates * sizes + known) / (sizes + known), sizes + known)
    assert banded_average_precision(rates, sizes, known=known) == pytest.approx(with_them)


def test_a_label_gains_the_less_the_more_are_known() -> None:
    drawn = np.random.default_rng(0).beta(2, 30, (500, 4))
    found = gain_of(drawn, np.array([50, 50, 100, 200]))
    steps = np.array([found.next(np.full(4, n)) for n in range(50)])
    assert (steps > 0).all() and (np.diff(steps, axis=0) < 0).all()
    assert steps.sum(0) == pytest.approx(found.of(np.full(4, 50)))


@st.composite
def plans(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, Gain, int]:
    h = draw(st.integers(1, 8))
    column = st.lists(st.integers(0, 60), min_size=h, max_size=h)
    labels, available = np.array(draw(column)), np.array(draw(column))
    return labels, available, gain(*draw(st.lists(st.floats(0, 5), min_size=h, max_size=h))), draw(st.integers(0, 200))


@given(plans())
def test_no_more_is_drawn_than_asked_for_and_than_there_is(
    plan: tuple[np.ndarray, np.ndarray, Gain, int],
) -> None:
    labels, available, weight, draw = plan
    with np.errstate(divide="raise", invalid="raise"):
        drawn = allocate(labels, available, weight, draw)
    assert ((drawn >= 0) & (drawn <= available)).all()
    assert drawn.sum() == min(draw, available.sum())


@given(plans())
def test_what_is_given_is_left_as_it_was(plan: tuple[np.ndarray, np.ndarray, Gain, int]) -> None:
    labels, available, weight, draw = plan
    before = [column.copy() for column in (labels, available)]
    allocate(labels, available, weight, draw)
    assert all((now == then).all() for now, then in zip((labels, available), before, strict=True))


@given(st.lists(st.integers(0, FIRST), min_size=1, max_size=8), st.integers(0, 100))
def test_until_each_stratum_has_fifteen_the_fewest_come_first(labels: list[int], draw: int) -> None:
    weight = gain(*[0.0] * (len(labels) - 1), 1.0)  # though all that matters is the last one
    missing = FIRST * len(labels) - sum(labels)
    drawn = allocate(np.array(labels), np.full(len(labels), 1_000), weight, min(draw, missing))
    after = labels + drawn
    grew = drawn > 0
    if grew.any():
        assert after[grew].max() - after.min() <= 1
    assert after.max() <= FIRST


def test_then_every_second_pair_goes_where_it_brings_most() -> None:
    labels, weight = np.full(5, FIRST), gain(0.0, 0.0, 1.0, 0.0, 0.0)
    drawn = allocate(labels, np.full(5, 1_000), weight, 100)
    assert drawn[2] == pytest.approx(50, abs=2)
    assert drawn[[0, 1, 3, 4]].tolist() == pytest.approx([12.5] * 4, abs=1)


def test_an_empty_sampling_order_leaves_its_share_to_the_others() -> None:
    drawn = allocate(np.zeros(3), np.array([3, 0, 50]), gain(1, 1, 1), 20)
    assert drawn.tolist() == [3, 0, 17]


@pytest.mark.parametrize("seed", range(2))
def test_so_many_more_labels_about_halve_the_interval(seed: int) -> None:
    """On average over a few samples: the estimate depends on the labels so far."""
    rng = np.random.default_rng(seed)
    pool = normal_pool(4.0, 0.5, rng, pairs=10**6)
    labels = np.full(len(pool.sizes), 25)

    def audited(counts: np.ndarray) -> tuple[float, np.ndarray]:
        found = [pool.draw(counts, rng) for _ in range(8)]
        posteriors = [draw_posterior(sample, rng, 300) for sample, _ in found]
        drawn = [
            positives_by_rank(posterior, sample.positive, ranks).average_precision()
            for posterior, (sample, ranks) in zip(posteriors, found, strict=True)
        ]
        widths = [np.subtract(*np.percentile(one, (97.5, 2.5))) for one in drawn]
        return float(np.mean(widths)), posteriors[0].rates

    before, rates = audited(labels)
    available, gained = pool.sizes - labels, gain_of(rates, pool.sizes)
    more = labels_to_halve(labels, available, gained, float(banded_average_precision(rates, pool.sizes).var()))
    assert more is not None
    after, _ = audited(labels + allocate(labels, available, gained, more))
    assert 0.3 < after / before < 0.85  # what deep strata tell alike counts for each of them


def test_nobody_is_told_a_number_that_is_out_of_reach() -> None:
    labels, spread = np.full(3, 15), Gain(np.ones(3), np.full(3, 100.0), np.ones(3))
    assert labels_to_halve(labels, np.zeros(3, dtype=np.int64), spread, 1.0) is None
    assert labels_to_halve(labels, np.full(3, 10**6), spread, 10.0) is None  # the labels can only tell 3 of 10
    assert labels_to_halve(labels, np.full(3, 10**6), spread, 3.0) == pytest.approx(900, rel=0.02)
