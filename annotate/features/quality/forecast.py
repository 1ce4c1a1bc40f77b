"""The forecast: how many labels and hours a chosen average precision still takes, each with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isinf

import numpy as np
import pandas as pd

from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.text.formatting import duration
from allpairs.annotate.kit.text.measures import counted, estimate
from allpairs.learner.light.stats.forecast import DRAWS, LEAST, REACH, TAILS, Goal, Learning, Point, learn
from allpairs.learner.light.stats.label_times import Timed, mean_draws

FARTHER = 4  # the plot ends at this multiple of the labels so far


@dataclass(frozen=True)
class Forecast:
    """The trained rounds, draws of their learning curve, and draws of the seconds per label, if known."""

    points: list[Point]
    learning: Learning
    seconds: np.ndarray | None

    def hours(self, goal: Goal) -> tuple[float, float, float] | None:
        """Return the 2.5%, 50% and 97.5% quantiles of the hours to the goal: labels times seconds, draw by draw."""
        if self.seconds is None:
            return None
        hours = (goal.labels - self.learning.spent) * self.seconds / 3600
        low, median, high = np.percentile(hours, TAILS, method="higher")
        return float(low), float(median), float(high)


def points(report: MonitorReport) -> list[Point]:
    """Return the trained rounds that are measured, first one first."""
    return [
        Point(matcher.labels, figure.value, figure.low, figure.high, audited=evaluation.by_audit)
        for matcher, evaluation in report.measured
        if matcher.number and matcher.labels and (figure := estimate(evaluation, "average_precision")) is not None
    ]


def outlook(report: MonitorReport, times: Sequence[Timed], rng: np.random.Generator) -> Forecast | None:
    """Return the forecast; None with fewer than three trained rounds."""
    rounds = points(report)
    learning = learn(rounds, rng)
    return None if learning is None else Forecast(rounds, learning, mean_draws(times, DRAWS, rng))


def too_few(report: MonitorReport) -> str:
    """Return why there is no forecast."""
    trained = len({point.labels for point in points(report)})
    return (
        f"A forecast needs {LEAST} trained rounds, each with more labels than the one before; there "
        f"{'is' if trained == 1 else 'are'} {trained}. With fewer rounds a rising curve cannot be told from a plateau."
    )


def next_target(forecast: Forecast) -> float:
    """Return a default target: slightly above the newest round, rounded up to a multiple of 0.05."""
    return min(0.95, ceil((forecast.points[-1].value + 0.03) * 20) / 20)


def band_table(forecast: Forecast, target: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return the average precision that a round with so many labels would have: median and 95% interval."""
    spent = forecast.learning.spent
    median = forecast.learning.goal(target).interval[1]
    last = 2 * spent if isinf(median) else min(FARTHER * spent, max(2 * spent, 1.2 * median))
    labels = np.unique(np.linspace(spent, last, 40).round())
    low, middle, high = np.percentile(forecast.learning.rounds(labels, rng), TAILS, axis=0)
    return pd.DataFrame({"labels": labels.astype(int), "average_precision": middle, "low": low, "high": high})


def targets_table(forecast: Forecast, target: float) -> pd.DataFrame:
    """Return the labels and hours that the target and those around it still take, as medians with 95% intervals.

    `reached`: the share of curves that reach the target. Infinite means more than 30 times the labels so far.
    """
    rows = []
    for value in sorted({target, *(round(target + step, 3) for step in (-0.1, -0.05, 0.05, 0.1))}):
        if 0 < value < 1:
            goal = forecast.learning.goal(value)
            low, median, high = (end - forecast.learning.spent for end in goal.interval)
            hours = forecast.hours(goal) or (None, None, None)
            rows.append(
                {
                    "target": value,
                    "reached": goal.reached,
                    "labels": median,
                    "labels_low": low,
                    "labels_high": high,
                    "hours": hours[1],
                    "hours_low": hours[0],
                    "hours_high": hours[2],
                }
            )
    return pd.DataFrame(rows)


def forecast_in_words(forecast: Forecast, target: float) -> str:
    """Return what the target takes, or that it is reached or looks unreachable, as Markdown."""
    goal = forecast.learning.goal(target)
    spent = forecast.learning.spent
    low, median, high = goal.interval
    if median <= spent:
        return (
            f"With a probability of {(goal.labels <= spent).mean():.0%}, the learning curve has already reached "
            f"{target:g}."
        )
    if isinf(median):
        return _out_of_sight(forecast, goal)
    return (
        f"**About {_labels(median - spent)}** to an average precision of {target:g} "
        f"({_between(low - spent, high - spent, spent)}){_hours(forecast, goal)}. "
        f"{goal.reached:.0%} of the simulated curves reach it within {REACH} times today's labels."
    )


def _out_of_sight(forecast: Forecast, goal: Goal) -> str:
    """Return that the target looks unreachable, and what can be said about it."""
    low = goal.interval[0]
    spent = forecast.learning.spent
    fastest = "" if isinf(low) else f" The fastest 2.5% of them take about {_labels(low - spent)}."
    highest = f"97.5% of the curves stay below {forecast.learning.highest():.2f} until then"
    share = "hardly any" if goal.reached < 0.005 else f"only {goal.reached:.0%}"
    return (
        f"**An average precision of {goal.target:g} looks unreachable:** {share} of the simulated curves reach it "
        f"within {REACH} times today's labels; {highest}.{fastest}"
    )


def _hours(forecast: Forecast, goal: Goal) -> str:
    hours = forecast.hours(goal)
    if hours is None:
        return ""
    low, median, high = (duration(3600 * time) if not isinf(time) else "" for time in hours)
    return f", **{median}** of labelling ({f'{low} to {high}' if high else f'{low} or more'})"


def _labels(number: float) -> str:
    """Return a number of labels with two or three significant digits; more would be false precision."""
    digits = len(str(int(number))) - 2
    return counted(int(round(number, -digits)) if digits > 0 else max(1, round(number)), "more label")


def _between(low: float, high: float, spent: int) -> str:
    if isinf(high):
        return f"95% interval {low:,.0f} or more: over 2.5% of the curves take more than {REACH * spent:,} labels"
    return f"95% interval {low:,.0f} to {high:,.0f}"
