"""Confidence sequences: they hold at every look, unlike intervals made for one look."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from allpairs.learner.metrics.confidence_sequence import lower, stratified_lower, upper

RUNS, LABELS = 1_000, 500
Bound = Callable[[np.ndarray, np.ndarray], np.ndarray]


def counted(share: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positives (RUNS, LABELS) after each label of each run, and the number of labels (LABELS,)."""
    labels = np.random.default_rng(seed).random((RUNS, LABELS)) < share
    return labels.cumsum(axis=1), np.arange(1, LABELS + 1)


def bounds(bound: Bound, k: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Return the bound of each count; runs share most of their counts, and each is worked out once."""
    counts, at = np.unique(np.stack(np.broadcast_arrays(k, n)).reshape(2, -1), axis=1, return_inverse=True)
    return bound(*counts)[at].reshape(k.shape)


def wilson_low(k: np.ndarray, n: np.ndarray) -> np.ndarray:
    z = 1.644854  # 95 % on one side, as the bound that it is compared with
    centre, spread = k + z**2 / 2, z * np.sqrt(k * (n - k) / n + z**2 / 4)
    return (centre - spread) / (n + z**2)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_checked_after_every_label_the_truth_is_rarely_excluded(share: float) -> None:
    k, n = counted(share, seed=1)
    excluded = (bounds(lower, k, n) > share) | (bounds(upper, k, n) < share)
    assert excluded.any(axis=1).mean() <= 0.05


def test_an_interval_made_for_one_look_announces_too_much() -> None:
    k, n = (column[..., 9::10] for column in counted(0.8, seed=2))  # a look at every tenth label
    rash, careful = ((bounds(bound, k, n) > 0.8).any(axis=1).mean() for bound in (wilson_low, lower))
    assert rash > 0.2
    assert careful < 0.02


def test_what_is_true_by_far_is_announced_soon() -> None:
    k, n = counted(0.95, seed=3)
    assert (bounds(lower, k[:, 199], n[199]) > 0.8).mean() > 0.95


def test_small_populations_drawn_to_their_end_are_covered() -> None:
    rng = np.random.default_rng(4)
    population = np.arange(60) < 42
    k = np.array([rng.permutation(population).cumsum() for _ in range(RUNS)])
    n = np.arange(1, 61)
    excluded = (bounds(lower, k, n) > 0.7) | (bounds(upper, k, n) < 0.7)
    assert excluded.any(axis=1).mean() <= 0.05


@pytest.mark.parametrize(("k", "n"), [(1, 1), (3, 10), (80, 100), (99, 100), (500, 1_000)])
def test_the_bound_solves_its_equation(k: int, n: int) -> None:
    bound = float(lower(k, n))
    value = betaln(k + 1, n - k + 1) - k * np.log(bound) - (n - k) * np.log1p(-bound)
    assert 0 < bound < k / n
    assert value == pytest.approx(np.log(20), abs=1e-6)


def test_one_positive_label() -> None:
    assert lower(1, 1) == pytest.approx(1 / 40)  # B(2, 1) = 1/2 = 20 t


def test_without_labels_nothing_is_excluded() -> None:
    assert (float(lower(0, 0)), float(upper(0, 0))) == (0.0, 1.0)
    assert float(lower(0, 9)) == 0.0 and float(upper(9, 9)) == 1.0


@given(st.integers(0, 400), st.integers(0, 400), st.floats(0.001, 0.5))
def test_bounds_hold_the_share_and_mirror_each_other(k: int, negatives: int, alpha: float) -> None:
    n = k + negatives
    low, high = float(lower(k, n, alpha)), float(upper(k, n, alpha))
    assert 0 <= low <= k / max(n, 1) <= 1 and low < high <= 1
    assert low <= high and (n == 0 or k / n <= high + 1e-12)
    assert low == pytest.approx(1 - float(upper(negatives, n, alpha)))
    assert low <= float(lower(k, n, min(1.0, 2 * alpha))) + 1e-12  # a smaller error makes a wider interval


def test_arrays_are_taken_element_by_element() -> None:
    k, n = np.array([[1, 5], [0, 9]]), np.array([10, 10])
    assert lower(k, n).shape == (2, 2)
    assert lower(k, n)[0, 1] == pytest.approx(float(lower(5, 10)))


def test_one_stratum_is_the_plain_bound_unless_fully_labelled() -> None:
    assert stratified_lower([1_000], [80], [100]) == pytest.approx(float(lower(80, 100)))
    assert stratified_lower([100], [80], [100]) == pytest.approx(0.8)


def test_empty_strata_bear_no_error_and_unlabelled_ones_any() -> None:
    assert stratified_lower([1_000, 0], [80, 0], [100, 0]) == pytest.approx(float(lower(80, 100)))
    half = stratified_lower([1_000, 1_000], [80, 0], [100, 0])
    assert half == pytest.approx(float(lower(80, 100, 0.025)) / 2)


def test_strata_together_hold_at_every_look() -> None:
    sizes, shares = np.array([128, 256, 512]), np.array([0.97, 0.8, 0.6])
    rng = np.random.default_rng(5)
    parts = [np.arange(size) < round(share * size) for size, share in zip(sizes, shares, strict=True)]
    truth = np.concatenate(parts).mean()

    def best_bound() -> float:
        found = [rng.permutation(part).cumsum() for part in parts]
        return max(stratified_lower(sizes, [k[n - 1] for k in found], np.full(3, n)) for n in range(5, 125, 5))

    assert np.mean([best_bound() <= truth for _ in range(60)]) >= 0.95
