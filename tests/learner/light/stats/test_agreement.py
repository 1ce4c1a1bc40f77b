"""Coefficients of agreement: published examples, properties for any ratings, and intervals."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from allpairs.learner.light.stats.agreement import (
    Coefficient,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    specific_agreement,
)
from allpairs.learner.light.stats.agreement_intervals import agreement_estimate, cohen_estimate, value, why_kappa_is_low
from tests.helpers.machine import examples

CORRECTED: dict[str, Coefficient] = {"AC1": gwet_ac1, "kappa": fleiss_kappa, "alpha": krippendorff_alpha}
ALL: dict[str, Coefficient] = {"observed": observed_agreement, "on 0": specific_agreement(0), **CORRECTED}


def counts_of(ratings: np.ndarray, categories: int) -> np.ndarray:
    """Return counts (units, categories) of ratings (raters, units), in which -1 is missing."""
    return (ratings[:, :, None] == np.arange(categories)).sum(axis=0)


def of_table(table: list[list[int]]) -> np.ndarray:
    """Return the counts of the units of a table of two raters."""
    pairs = np.argwhere(np.ones_like(table))
    return counts_of(np.repeat(pairs, np.ravel(table), axis=0).T, len(table))


# Fleiss (1971): ten patients, fourteen raters each, five categories.
FLEISS = np.array([
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
])  # fmt: skip
# Krippendorff (2011): four observers, twelve units, values 1 to 5, some missing.
KRIPPENDORFF = np.array([
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0], [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]) - 1  # fmt: skip
GWET = [[118, 5], [2, 0]]  # Gwet (2008): 125 subjects, two raters who nearly always say the same


def test_fleiss_kappa_is_that_of_the_paper() -> None:
    assert value(observed_agreement, FLEISS) == pytest.approx(0.378, abs=5e-4)
    assert value(fleiss_kappa, FLEISS) == pytest.approx(0.210, abs=5e-4)


def cohen_kappa(table: np.ndarray) -> float | None:
    found = cohen_estimate(table, np.random.default_rng(0), draws=20)
    return None if found is None else found.value


def test_alpha_is_that_of_the_paper_also_with_missing_ratings() -> None:
    assert value(krippendorff_alpha, counts_of(KRIPPENDORFF, 5)) == pytest.approx(0.743, abs=5e-4)
    two = np.array([[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]])
    assert value(krippendorff_alpha, counts_of(two, 2)) == pytest.approx(0.095, abs=5e-4)


def test_ac1_is_that_of_the_paper_where_kappa_is_below_zero() -> None:
    assert value(observed_agreement, of_table(GWET)) == pytest.approx(0.944)
    assert value(gwet_ac1, of_table(GWET)) == pytest.approx(0.9408, abs=5e-5)
    assert cohen_kappa(np.array(GWET)) == pytest.approx(-0.0234, abs=5e-5)


def test_cohens_kappa_by_hand() -> None:
    assert cohen_kappa(np.array([[20, 5], [10, 15]])) == pytest.approx(0.4)  # (0.7 - 0.5) / (1 - 0.5)
    assert cohen_kappa(np.array([[45, 15], [25, 15]])) == pytest.approx(0.0600 / 0.46)
    assert cohen_kappa(np.array([[7, 0], [0, 0]])) is None


def test_specific_agreement_by_hand() -> None:
    counts = of_table(GWET)
    assert value(specific_agreement(0), counts) == pytest.approx(2 * 118 / (2 * 118 + 5 + 2))
    assert value(specific_agreement(1), counts) == 0
    # Three raters: of the five ratings of category 0, those of (2, 1) meet it in one of two others, that of (1, 2) not.
    assert value(specific_agreement(0), np.array([[2, 1], [2, 1], [1, 2], [0, 3]])) == pytest.approx(2 / 5)
    assert value(specific_agreement(0), np.array([[0, 2], [0, 3]])) is None


def test_rare_matches_two_raters_who_are_right_99_times_in_100() -> None:
    # Two in a thousand match: both say so in 0.002 · 0.99² + 0.998 · 0.01², one alone in 0.0099, either way.
    table = [[206, 990], [990, 97_814]]
    found = [value(one, of_table(table)) for one in (observed_agreement, gwet_ac1, specific_agreement(0))]
    assert [cohen_kappa(np.array(table)), *found] == pytest.approx([0.1622, 0.9802, 0.9797, 0.1722], abs=1e-4)


def test_units_that_are_alike_may_be_given_once() -> None:
    rows, times = np.array([[2, 0], [1, 1], [0, 2], [1, 0]]), np.array([20, 15, 15, 9])
    for name, coefficient in ALL.items():
        assert value(coefficient, rows, times) == value(coefficient, np.repeat(rows, times, axis=0)), name
    given, repeated = ((rows, times), (np.repeat(rows, times, axis=0), None))
    one, two = (agreement_estimate(gwet_ac1, *said, rng=np.random.default_rng(1)) for said in (given, repeated))
    assert one is not None and two is not None and one.labels == two.labels == 100
    assert (one.low, one.high) == pytest.approx((two.low, two.high), abs=0.03)


def test_units_with_fewer_than_two_ratings_are_left_out() -> None:
    more = np.vstack([FLEISS, [[0, 1, 0, 0, 0]] * 4, [[0] * 5]])
    for name, coefficient in ALL.items():
        assert value(coefficient, more) == value(coefficient, FLEISS), name


def test_what_is_not_defined_is_nothing() -> None:
    rng = np.random.default_rng(0)
    for counts in (np.zeros((0, 2), int), np.array([[1, 0], [0, 1]])):
        assert [value(coefficient, counts) for coefficient in ALL.values()] == [None] * len(ALL)
        assert agreement_estimate(observed_agreement, counts, rng=rng) is None
    constant = np.array([[3, 0]] * 5)
    assert [value(coefficient, constant) for coefficient in ALL.values()] == [1, 1, 1, None, None]
    assert (
        agreement_estimate(fleiss_kappa, constant, rng=rng) is None
        and cohen_estimate(np.array([[5, 0], [0, 0]]), rng) is None
    )
    for bad in (np.zeros(3, int), np.array([[1], [2]]), np.array([[1, -1]])):
        with pytest.raises(ValueError, match="units, categories"):
            value(observed_agreement, bad)


ratings = st.integers(2, 5).flatmap(
    lambda raters: arrays(np.int64, st.tuples(st.just(raters), st.integers(1, 12)), elements=st.integers(-1, 2))
)


@settings(max_examples=examples(60))
@given(ratings, st.randoms(use_true_random=False))
def test_order_of_raters_and_units_and_names_do_not_matter(given: np.ndarray, chance) -> None:  # type: ignore[no-untyped-def]
    raters, units, names = ([*range(n)] for n in (*given.shape, 3))
    for places in (raters, units, names):
        chance.shuffle(places)
    other = counts_of(given[raters][:, units], 3)[:, names]
    for name, coefficient in ({"observed": observed_agreement} | CORRECTED).items():
        before, after = value(coefficient, counts_of(given, 3)), value(coefficient, other)
        assert before == pytest.approx(after) if before is not None else after is None, name
        assert before is None or -1 <= before <= 1


@settings(max_examples=examples(40))
@given(arrays(np.int64, st.integers(2, 12), elements=st.integers(0, 2)), st.integers(2, 5))
def test_perfect_agreement_is_one(said: np.ndarray, raters: int) -> None:
    assume(len(set(said.tolist())) > 1)
    counts = counts_of(np.tile(said, (raters, 1)), 3)
    rng = np.random.default_rng(0)
    for name, coefficient in ({"observed": observed_agreement} | CORRECTED).items():
        found = agreement_estimate(coefficient, counts, rng=rng, draws=50)
        assert found is not None and found.value == found.high == pytest.approx(1), name
        assert found.low < 1, name  # a handful of units proves little
    assert cohen_kappa(np.diag(counts.sum(axis=0))) == pytest.approx(1)


@settings(max_examples=examples(40))
@given(arrays(np.int64, (2, 2), elements=st.integers(0, 30)))
def test_two_raters_coefficients_lie_in_their_known_order(table: np.ndarray) -> None:
    assume(table.sum() > 1)
    found = [value(fleiss_kappa, of_table(table.tolist())), cohen_kappa(table)]
    assume(None not in found)
    # Scott's pi, which is Fleiss' kappa of two raters, is never above Cohen's kappa.
    assert all(one <= other + 1e-9 for one, other in pairwise(found) if one is not None and other is not None)


def rated(rng: np.random.Generator, units: int) -> np.ndarray:
    """Return counts of three raters who are right in 85 % of the cases; a fifth of the units are in category 1."""
    truth = rng.random(units) < 0.2
    right = rng.random((3, units)) < 0.85
    return counts_of((truth == right).astype(int), 2)


def rarely_matching(rng: np.random.Generator, units: int) -> np.ndarray:
    """Return counts of two raters who find 85 % of the matches (a tenth of the units), and 1 % of the others."""
    yes = np.where(rng.random((1, units)) < 0.1, rng.random((2, units)) < 0.85, rng.random((2, units)) < 0.01)
    return counts_of(1 - yes.astype(int), 2)


@pytest.mark.parametrize("units", [rated, rarely_matching])
@pytest.mark.parametrize("name", ALL)
def test_intervals_hold_the_truth_about_as_often_as_they_say(
    name: str, units: Callable[[np.random.Generator, int], np.ndarray]
) -> None:
    rng = np.random.default_rng(7)
    truth = value(ALL[name], units(rng, 40_000))
    found = [agreement_estimate(ALL[name], units(rng, 60), rng=rng, draws=300) for _ in range(200)]
    assert truth is not None
    defined = [one for one in found if one is not None]
    assert 0.91 <= np.mean([one.low <= truth <= one.high for one in defined]) <= 0.99


@pytest.mark.parametrize("counts", [[[0, 2]] * 50 + [[1, 1]] * 3, [[1, 1]], [[2, 0]], [[2, 0]] + [[0, 2]] * 50])
def test_no_interval_is_without_width(counts: list[list[int]]) -> None:
    rng = np.random.default_rng(0)
    for name, coefficient in ALL.items():
        found = agreement_estimate(coefficient, np.array(counts), rng=rng)
        assert found is None or found.high - found.low > 0.05, (name, found)
    kappa = cohen_estimate(np.array([[0, 3], [0, 50]]), rng)
    assert kappa is not None and kappa.value == 0 and kappa.low < -0.005 and kappa.high > 0.2


def test_an_estimate_names_its_ratings_and_repeats_by_its_seed() -> None:
    one, two = (agreement_estimate(fleiss_kappa, FLEISS, rng=np.random.default_rng(3)) for _ in range(2))
    assert one == two and one is not None and one.labels == 140 and one.low < one.value < one.high
    table = np.array([[20, 5], [10, 15]])
    kappa = cohen_estimate(table, np.random.default_rng(0))
    assert kappa is not None and kappa.labels == 100
    # The normal approximation of Fleiss, Cohen and Everitt (1969) has a standard error of 0.127 here.
    assert (kappa.low, kappa.high) == pytest.approx((0.4 - 0.25, 0.4 + 0.25), abs=0.03)


def test_a_sentence_explains_a_low_kappa_only_where_needed() -> None:
    names = ("yes", "no")
    said = why_kappa_is_low(of_table(GWET), names)
    assert "“no” is rare: 97% of the ratings are “yes”" in said and "95%" in said
    assert why_kappa_is_low(np.array([[3, 0]] * 5), names).startswith("All ratings are “yes”")
    assert why_kappa_is_low(of_table([[20, 5], [10, 15]]), names) == ""  # low, but nothing is rare
    assert why_kappa_is_low(of_table([[90, 0], [0, 10]]), names) == ""  # rare, but not low
    assert why_kappa_is_low(np.zeros((0, 2), int), names) == ""
