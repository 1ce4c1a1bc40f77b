"""The calibration error: worked by hand, exact over all pairs against brute force, and from samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.evaluation.calibration import BINS, bin_of, cuts, reliability
from allpairs.learner.models.output_layer import OutputLayer


def test_it_is_the_distance_of_mean_p_and_share_by_hand() -> None:
    found = reliability(np.array([0.9, 0.92]), True) + reliability(np.array([0.91, 0.11, 0.13]), False)
    # bin 18: three pairs, mean p 0.91, two thirds positive; bin 2: two pairs, mean p 0.12, none
    expected = np.sqrt(3 / 5 * (0.91 - 2 / 3) ** 2 + 2 / 5 * 0.12**2)
    assert found.error == pytest.approx(expected, abs=1e-12)


def test_probabilities_that_are_shares_have_no_error() -> None:
    p = np.full(10, 0.7)
    assert (reliability(p[:7], True) + reliability(p[7:], False)).error == pytest.approx(0, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.lists(st.floats(0, 1), max_size=30), st.integers(1, 9))
def test_a_weight_is_a_pair_repeated(positive: list[float], negative: list[float], weight: int) -> None:
    known, others = reliability(np.array(positive), True), np.array(negative)
    weighted = known + reliability(others, False, weight)
    repeated = known + reliability(np.repeat(others, weight), False)
    assert weighted.error == pytest.approx(repeated.error, abs=1e-9)
    assert 0 <= weighted.error <= 1


@given(st.floats(0.1, 100), st.floats(-50, 50), st.lists(st.floats(-1, 1), min_size=1, max_size=50))
def test_the_cuts_part_the_bins(w: float, b: float, scores: list[float]) -> None:
    layer, cosines = OutputLayer(w, b), np.array(scores)
    at = cuts(layer)
    assert len(at) == BINS - 1
    assert at[BINS // 2 - 1] == pytest.approx(layer.threshold)
    clear = np.abs(cosines[:, None] - at).min(1) > 1e-9
    np.testing.assert_array_equal(bin_of(layer.probability(cosines[clear])), np.searchsorted(at, cosines[clear]))


def test_without_a_threshold_there_are_no_cuts() -> None:
    assert len(cuts(None)) == len(cuts(OutputLayer(0.0, -1.0))) == 0
