"""Allocation: equal first, then half where it helps most; and the labels needed to halve an interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.evaluation.audit.allocation import FIRST, allocate, importance, labels_to_halve
from allpairs.learner.evaluation.audit.figures import found_by
from allpairs.learner.evaluation.audit.sample import draw_posterior
from tests.helpers.projects.audited import doubling, normal_pool

sizes_and_rates = st.lists(st.tuples(st.integers(50, 5_000), st.floats(0.001, 0.6)), min_size=2, max_size=8)


def average_precision(positives: np.ndarray, sizes: np.ndarray) -> float:
    """Return the AP of strata with evenly spread positives: the precision in each stratum's middle."""
    middle = np.cumsum(sizes) - sizes / 2
    precision = (np.cumsum(positives) - positives / 2) / middle
    return float((positives * precision).sum() / positives.sum())


@given(sizes_and_rates)
def test_importance_is_the_effect_of_a_label_on_average_precision(strata: list[tuple[int, float]]) -> None:
    sizes, rates = (np.array(column, dtype=np.float64) for column in zip(*strata, strict=True))
    rates = np.sort(rates)[::-1]
    positives, step = sizes * rates, 1e-4
    slope = np.array([
        (average_precision(positives + up, sizes) - average_precision(positives - up, sizes)) / (2 * step)
        for up in step * np.eye(len(sizes))
    ])  # fmt: skip
    expected = sizes * np.abs(slope) * np.sqrt(rates * (1 - rates))
    assert importance(rates[None], sizes) == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_importance_is_the_mean_square_over_the_draws() -> None:
    sizes, rates = np.array([128, 128, 256]), np.array([[0.9, 0.5, 0.1], [0.7, 0.2, 0.05], [0.8, 0.4, 0.2]])
    each = np.array([importance(row[None], sizes) for row in rates])
    assert importance(rates, sizes) == pytest.approx(np.sqrt((each**2).mean(0)))


@st.composite
def plans(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    h = draw(st.integers(1, 8))
    column = st.lists(st.integers(0, 60), min_size=h, max_size=h)
    labels, available = np.array(draw(column)), np.array(draw(column))
    weight = np.array(draw(st.lists(st.floats(0, 5), min_size=h, max_size=h)))
    return labels, available, weight, draw(st.integers(0, 200))


@given(plans())
def test_no_more_is_drawn_than_asked_for_and_than_there_is(
    plan: tuple[np.ndarray, np.ndarray, np.ndarray, int],
) -> None:
    labels, available, weight, draw = plan
    with np.errstate(divide="raise", invalid="raise"):
        drawn = allocate(labels, available, weight, draw)
    assert ((drawn >= 0) & (drawn <= available)).all()
    assert drawn.sum() == min(draw, available.sum())


@given(plans())
def test_what_is_given_is_left_as_it_was(plan: tuple[np.ndarray, np.ndarray, np.ndarray, int]) -> None:
    labels, available, weight, draw = plan
    before = [column.copy() for column in (labels, available, weight)]
    allocate(labels, available, weight, draw)
    assert all((now == then).all() for now, then in zip((labels, available, weight), before, strict=True))


@given(st.lists(st.integers(0, FIRST), min_size=1, max_size=8), st.integers(0, 100))
def test_until_each_stratum_has_fifteen_the_fewest_come_first(labels: list[int], draw: int) -> None:
    weight = np.zeros(len(labels))
    weight[-1] = 1.0  # though all that matters is the last one
    missing = FIRST * len(labels) - sum(labels)
    drawn = allocate(np.array(labels), np.full(len(labels), 1_000), weight, min(draw, missing))
    after = labels + drawn
    grew = drawn > 0
    if grew.any():
        assert after[grew].max() - after.min() <= 1
    assert after.max() <= FIRST


def test_then_every_second_pair_goes_where_it_brings_most() -> None:
    labels, weight = np.full(5, FIRST), np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    drawn = allocate(labels, np.full(5, 1_000), weight, 100)
    assert drawn[2] == pytest.approx(50, abs=2)
    assert drawn[[0, 1, 3, 4]].tolist() == pytest.approx([12.5] * 4, abs=1)


def test_two_strata_of_which_one_matters_more_are_labelled_by_their_weights() -> None:
    """Σ weight²/labels is then least; the half for the least labelled keeps the third stratum level with the second."""
    weight = np.array([4.0, 2.0, 1.0])
    labels = np.full(3, FIRST) + allocate(np.full(3, FIRST), np.full(3, 10_000), weight, 4_000)
    assert labels[0] / labels[1] == pytest.approx(2, rel=0.02)
    assert labels[1] == pytest.approx(labels[2], rel=0.02)
    assert (weight**2 / labels).sum() < (weight**2 / labels.mean()).sum()


def test_an_empty_sampling_order_leaves_its_share_to_the_others() -> None:
    drawn = allocate(np.zeros(3), np.array([3, 0, 50]), np.ones(3), 20)
    assert drawn.tolist() == [3, 0, 17]


@pytest.mark.parametrize("seed", range(2))
def test_so_many_more_labels_about_halve_the_interval(seed: int) -> None:
    """On average over a few samples: the estimate depends on the labels so far."""
    rng = np.random.default_rng(seed)
    pool = normal_pool(4.0, 0.5, rng, pairs=10**6)
    labels = np.full(len(pool.sizes), 25)

    def width(counts: np.ndarray) -> tuple[float, np.ndarray]:
        found = [pool.draw(counts, rng) for _ in range(8)]
        posteriors = [draw_posterior(sample, rng, 300) for sample, _ in found]
        drawn = [
            found_by(posterior, sample.positive, ranks).average_precision()
            for posterior, (sample, ranks) in zip(posteriors, found, strict=True)
        ]
        widths = [np.subtract(*np.percentile(one, (97.5, 2.5))) for one in drawn]
        return float(np.mean(widths)), importance(posteriors[0].rates, pool.sizes)

    before, weight = width(labels)
    available = pool.sizes - labels
    more = labels_to_halve(labels, available, weight)
    assert more is not None
    after, _ = width(labels + allocate(labels, available, weight, more))
    assert 0.35 < after / before < 0.7


def test_nobody_is_told_a_number_that_is_out_of_reach() -> None:
    labels, sizes = np.full(3, 5), doubling(300)[:3]
    assert labels_to_halve(labels, np.zeros(3, dtype=np.int64), np.ones(3)) is None
    assert labels_to_halve(np.full(3, 50_000), np.full(3, 10**6), np.ones(3)) is None
    assert labels_to_halve(labels, sizes - labels, np.ones(3)) == pytest.approx(45, abs=2)  # three times the labels
