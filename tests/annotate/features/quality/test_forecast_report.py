"""The labels and hours still needed for a target, in words and tables."""

from math import inf, isinf

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.quality.forecast import (
    Forecast,
    band_table,
    forecast_in_words,
    next_target,
    outlook,
    points,
    targets_table,
    too_few,
)
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.features.quality.ui.forecast import describe_outlook, measured_table, outlook_chart
from allpairs.learner.light.stats.forecast import DRAWS, REACH, Point, learn
from allpairs.learner.light.stats.label_times import Timed, mean_draws
from tests.helpers.figures.measured import AUDITED_AP, make_audited_project, make_measured_project

RISING = [(64, 0.465), (160, 0.489), (304, 0.539), (520, 0.594), (844, 0.639)]
TIMED = [Timed("ada", day, 4.0 + day + (i % 3)) for day in range(5) for i in range(30)]


def found(curve: list[tuple[int, float]] = RISING, times: list[Timed] = TIMED) -> Forecast:

    rounds = [Point(n, value, value, value) for n, value in curve]
    learning = learn(rounds, np.random.default_rng(0))
    assert learning is not None
    return Forecast(rounds, learning, mean_draws(times, DRAWS, np.random.default_rng(1)))


def test_trained_rounds_alone_are_learned_from(engine: Engine) -> None:
    report = read_report(engine, make_audited_project(engine))
    assert [point.labels for point in points(report)] == [40, 100, 190, 325]
    assert [point.value for point in points(report)] == list(AUDITED_AP[1:])
    assert all(point.audited and point.low < point.value < point.high for point in points(report))


@pytest.mark.parametrize(("rounds", "said"), [(1, "there are 0"), (2, "there is 1"), (3, "there are 2")])
def test_too_few_rounds_are_said_plainly(engine: Engine, rounds: int, said: str) -> None:
    report = read_report(engine, make_measured_project(engine, rounds=rounds))
    assert outlook(report, TIMED, np.random.default_rng(0)) is None
    assert said in too_few(report) and "needs 3 trained rounds" in too_few(report)


def test_hours_are_labels_times_seconds_draw_by_draw() -> None:
    one = found()
    goal = one.learning.goal(0.66)
    low, median, high = one.hours(goal) or (0.0, 0.0, 0.0)
    labels = goal.interval[1] - one.learning.spent
    assert median == pytest.approx(labels * 7 / 3600, rel=0.35)  # 4 to 10 seconds a label
    assert low < median < high
    assert found(times=[]).hours(goal) is None


def test_a_target_ahead_is_told_with_intervals() -> None:
    said = forecast_in_words(found(), 0.66)
    assert said.startswith("**About ") and "precision of 0.66 (95%" in said
    assert " of labelling (" in said and f"within {REACH} times" in said
    assert "of labelling" not in forecast_in_words(found(times=[]), 0.66)


def test_a_target_out_of_sight_is_said_plainly() -> None:
    flat = found([(512, 0.301), (1280, 0.322), (2432, 0.332), (4160, 0.328)])
    said = forecast_in_words(flat, 0.8)
    assert "0.8 looks unreachable" in said
    assert "97.5% of the curves stay below 0." in said
    assert "already" in forecast_in_words(flat, 0.25)


def test_an_interval_without_an_upper_end_is_said() -> None:
    goal = found().learning.goal(0.72)
    assert isinf(goal.interval[2]) and not isinf(goal.interval[1])
    assert "more than 25,320 labels" in forecast_in_words(found(), 0.72)


def test_the_band_begins_at_the_newest_round_and_widens() -> None:
    band = band_table(found(), 0.7, np.random.default_rng(2))
    assert band["labels"].iloc[0] == 844 and band["labels"].is_monotonic_increasing
    assert 2 * 844 <= band["labels"].iloc[-1] <= 4 * 844
    assert (band["low"] < band["average_precision"]).all() and (band["average_precision"] < band["high"]).all()
    width = band["high"] - band["low"]
    assert width.iloc[-1] > width.iloc[0]


def test_farther_targets_take_more_and_are_reached_less() -> None:
    table = targets_table(found(), 0.7)
    assert list(table["target"]) == pytest.approx([0.6, 0.65, 0.7, 0.75, 0.8])
    assert table["reached"].is_monotonic_decreasing and table["labels"].is_monotonic_increasing
    assert table["labels"].iloc[0] == 0 and table["labels_high"].iloc[-1] == inf
    assert targets_table(found(), 0.97)["target"].max() < 1


@pytest.mark.parametrize(("value", "target"), [(0.639, 0.7), (0.6, 0.65), (0.3, 0.35), (0.94, 0.95)])
def test_the_first_target_is_a_little_ahead(value: float, target: float) -> None:
    assert next_target(found([(64, 0.2), (160, 0.25), (304, value)])) == pytest.approx(target)


def test_the_plot_is_described_with_its_figures() -> None:
    one = found()
    measured, band = measured_table(one.points), band_table(one, 0.7, np.random.default_rng(2))
    assert len(outlook_chart(measured, band, 0.7).to_dict()["layer"]) == 7
    said = describe_outlook(measured, band, forecast_in_words(one, 0.7))
    assert "0.639 measured at 844" in said
    assert "95% interval" in said and "*" not in said
