"""The refitted output layer, against the worked numbers of the paper's set-up and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from allpairs.learner.models.output_layer import OutputLayer, fit_output_layer, sigmoid

COSINES = np.array([0.99, 0.97, 0.96, 0.95, 0.93, 0.90, 0.85, 0.80])
LABELS = np.array([1, 1, 0, 1, 1, 0, 0, 0])
SEPARABLE = np.array([1, 1, 1, 1, 0, 0, 0, 0])


def normalized(layer: OutputLayer) -> tuple[float, float]:
    """Return w and b on standardised cosines."""
    return layer.w * COSINES.std(), layer.b + layer.w * COSINES.mean()


def test_the_worked_example() -> None:
    layer = fit_output_layer(COSINES, LABELS)
    assert normalized(layer) == pytest.approx((2.772989, -0.553437), abs=1e-6)
    assert (layer.w, layer.b) == pytest.approx((45.520435, -42.375336), abs=1e-5)
    assert layer.threshold == pytest.approx(0.930908, abs=1e-6)
    assert layer.loss == pytest.approx(0.386552, abs=1e-6)


def test_the_optimum_is_that_of_scikit_learn() -> None:
    standardized = (COSINES - COSINES.mean()) / COSINES.std()
    other = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(standardized[:, None], LABELS)
    expected = float(other.coef_[0, 0]), float(other.intercept_[0])
    assert normalized(fit_output_layer(COSINES, LABELS)) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("steps", "w"), [(1_000, 12.83), (10_000, 25.18)])
def test_separable_labels_have_no_optimum_so_steps_are_defined(steps: int, w: float) -> None:
    assert normalized(fit_output_layer(COSINES, SEPARABLE, steps))[0] == pytest.approx(w, abs=0.005)


def test_ten_thousand_steps_are_the_default() -> None:
    assert fit_output_layer(COSINES, SEPARABLE) == fit_output_layer(COSINES, SEPARABLE, 10_000)


def test_w_is_never_negative() -> None:
    layer = fit_output_layer(COSINES, 1 - SEPARABLE)
    assert layer.w == 0
    assert layer.probability(COSINES) == pytest.approx(np.full(8, 0.5))


def test_equal_cosines_give_the_share_of_positives() -> None:
    layer = fit_output_layer(np.full(4, 0.7), np.array([1, 0, 0, 0]))
    assert layer.probability(np.array([0.7])) == pytest.approx([0.25], abs=1e-6)


def test_the_threshold_is_where_p_is_one_half() -> None:
    layer = fit_output_layer(COSINES, LABELS)
    assert layer.probability(np.array([layer.threshold])) == pytest.approx([0.5], abs=1e-12)


@given(st.floats(0, 1e4), st.floats(-1e4, 1e4), st.lists(st.floats(-1, 1, width=32), min_size=2))
def test_p_rises_with_the_cosine_and_stays_a_probability(w: float, b: float, scores: list[float]) -> None:
    p = OutputLayer(w, b).probability(np.sort(np.array(scores, dtype=np.float32)))
    assert ((p >= 0) & (p <= 1)).all()
    assert (np.diff(p) >= 0).all()


def test_extreme_logits_do_not_overflow() -> None:
    with np.errstate(all="raise"):
        assert sigmoid(np.array([-1e6, 0.0, 1e6])).tolist() == [0, 0.5, 1]
