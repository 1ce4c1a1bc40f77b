"""How long a label takes: medians with intervals, the cap, the mean of future labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from allpairs.learner.light.stats.label_times import CAP, LEAST, Timed, capped, mean_draws, pace

TIMES = st.lists(st.floats(0, 10_000), min_size=LEAST, max_size=200)


@given(st.floats(-10, 1e6))
def test_idle_time_counts_as_the_cap(seconds: float) -> None:
    (counted,) = capped([seconds])
    assert 0 <= counted <= CAP
    assert counted == seconds or not 0 < seconds <= CAP


@given(TIMES)
def test_the_figures_are_in_order(seconds: list[float]) -> None:
    found = pace(seconds)
    assert found is not None
    assert 0 <= found.low <= found.median <= found.high <= CAP
    assert found.first <= found.median <= found.third
    assert found.capped == sum(one > CAP for one in seconds)


@given(TIMES, st.integers(0, 5))
def test_how_long_somebody_was_away_changes_nothing(seconds: list[float], away: int) -> None:
    assert pace([*seconds, *[CAP + 1] * away]) == pace([*seconds, *[1e6] * away])


@pytest.mark.parametrize("n", [*range(LEAST, 40), 100, 999, 5_000])
def test_the_interval_of_the_median_holds_it(n: int) -> None:
    """For any distribution: the probability that so many of n answers lie below its median is binomial (1/2)."""
    found = pace([i / n for i in range(n)])
    assert found is not None
    below = round(found.low * n)
    chance = binom.cdf(n - below - 1, n, 0.5) - binom.cdf(below, n, 0.5)
    assert 0.94 <= chance < 0.995


def test_of_few_answers_nothing_is_said() -> None:
    assert pace([3.0] * (LEAST - 1)) is None
    assert mean_draws([Timed("ada", 1, 3.0)] * (LEAST - 1), 10, np.random.default_rng(0)) is None


def test_the_mean_of_a_day_to_come_varies_as_days_did() -> None:
    """Simulate forty projects of twelve days, each day with its own pace: 95 % intervals cover the mean."""
    rng, held = np.random.default_rng(1), []
    for _ in range(200):
        days = rng.lognormal(1.5, 0.3, 12)
        times = [Timed("ada", day, float(s)) for day, mean in enumerate(days) for s in rng.gamma(2, mean / 2, 40)]
        drawn = mean_draws(times, 500, rng)
        assert drawn is not None
        low, high = np.percentile(drawn, (2.5, 97.5))
        held.append(low <= np.exp(1.5 + 0.3**2 / 2) <= high)
    assert 0.85 <= np.mean(held) <= 0.99


def test_one_long_absence_is_no_hour() -> None:
    times = [Timed("ada", 1, 4.0)] * 50 + [Timed("ada", 1, 90_000.0)]
    drawn = mean_draws(times, 200, np.random.default_rng(0))
    assert drawn is not None and drawn.max() < 12
