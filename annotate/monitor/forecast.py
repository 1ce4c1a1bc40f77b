"""What is still to be labelled until a chosen average precision: labels and hours, each with an interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isinf

import numpy as np
import pandas as pd

from annotate.monitor.rounds import Report
from annotate.stats.forecast import DRAWS, LEAST, REACH, TAILS, Goal, Learning, Point, learn
from annotate.stats.label_times import Timed, mean_draws
from annotate.text.formatting import duration
from annotate.text.measures import counted, estimate

FARTHER = 4  # times the labels so far: how far a forecast is drawn


@dataclass(frozen=True)
class Outlook:
    """The trained rounds, draws of their learning curve, and draws of the seconds for a label, where known."""

    points: list[Point]
    learning: Learning
    seconds: np.ndarray | None

    def hours(self, goal: Goal) -> tuple[float, float, float] | None:
        """2.5 %, 50 % and 97.5 % of the hours that the goal still takes: labels times seconds, draw by draw."""
        if self.seconds is None:
            return None
        hours = (goal.labels - self.learning.spent) * self.seconds / 3600
        low, median, high = np.percentile(hours, TAILS, method="higher")
        return float(low), float(median), float(high)


def points(report: Report) -> list[Point]:
    """The trained rounds that are measured, the first one first."""
    return [
        Point(matcher.labels, found.value, found.low, found.high, audited=bool(evaluation.audit))
        for matcher, evaluation in report.measured
        if matcher.number and matcher.labels and (found := estimate(evaluation, "average_precision")) is not None
    ]


def outlook(report: Report, times: Sequence[Timed], rng: np.random.Generator) -> Outlook | None:
    """The forecast; nothing where fewer than three rounds are trained."""
    rounds = points(report)
    learning = learn(rounds, rng)
    return None if learning is None else Outlook(rounds, learning, mean_draws(times, DRAWS, rng))


def too_few(report: Report) -> str:
    """Why there is no forecast."""
    trained = len({point.labels for point in points(report)})
    return (
        f"A forecast needs {LEAST} trained rounds with more labels each; there {'is' if trained == 1 else 'are'} "
        f"{trained}. Fewer do not tell a curve that rises from one that is at its end."
    )


def next_target(found: Outlook) -> float:
    """A target to begin with: a twentieth above the newest round or a little more, on a round number."""
    return min(0.95, ceil((found.points[-1].value + 0.03) * 20) / 20)


def band_table(found: Outlook, target: float, rng: np.random.Generator) -> pd.DataFrame:
    """The average precision that a round with so many labels would have: median, and 95 % interval low, high."""
    spent = found.learning.spent
    median = found.learning.goal(target).interval[1]
    last = 2 * spent if isinf(median) else min(FARTHER * spent, max(2 * spent, 1.2 * median))
    labels = np.unique(np.linspace(spent, last, 40).round())
    low, middle, high = np.percentile(found.learning.rounds(labels, rng), TAILS, axis=0)
    return pd.DataFrame({"labels": labels.astype(int), "average_precision": middle, "low": low, "high": high})


def targets_table(found: Outlook, target: float) -> pd.DataFrame:
    """What the target and those around it take: more labels and hours (median, 95 % interval), the share of curves that
    get there. Infinite means more than 30 times the labels so far.
    """
    rows = []
    for one in sorted({target, *(round(target + step, 3) for step in (-0.1, -0.05, 0.05, 0.1))}):
        if 0 < one < 1:
            goal = found.learning.goal(one)
            low, median, high = (end - found.learning.spent for end in goal.interval)
            hours = found.hours(goal) or (None, None, None)
            rows.append(
                {"target": one, "reached": goal.reached, "labels": median, "labels_low": low, "labels_high": high,
                 "hours": hours[1], "hours_low": hours[0], "hours_high": hours[2]}
            )  # fmt: skip
    return pd.DataFrame(rows)


def in_words(found: Outlook, target: float) -> str:
    """What the target takes, or that it is there or out of sight, in Markdown."""
    goal, spent = found.learning.goal(target), found.learning.spent
    low, median, high = goal.interval
    if median <= spent:
        return (
            f"The learning curve is at {target:g} already, with a probability of {(goal.labels <= spent).mean():.0%}."
        )
    if isinf(median):
        return _out_of_sight(found, goal)
    return (
        f"**About {_labels(median - spent)}** to an average precision of {target:g} "
        f"({_between(low - spent, high - spent, spent)}){_hours(found, goal)}. "
        f"{goal.reached:.0%} of the plausible curves get there within {REACH} times the labels so far."
    )


def _out_of_sight(found: Outlook, goal: Goal) -> str:
    """That the target cannot be promised, and what can be said of it."""
    low, spent = goal.interval[0], found.learning.spent
    fastest = "" if isinf(low) else f" The fastest 2.5% of them take about {_labels(low - spent)}."
    highest = f"97.5% of them stay below {found.learning.highest():.2f} until then"
    share = "Hardly any" if goal.reached < 0.005 else f"Only {goal.reached:.0%}"
    return (
        f"**An average precision of {goal.target:g} is out of sight.** {share} of the plausible curves get there "
        f"within {REACH} times the labels so far; {highest}.{fastest}"
    )


def _hours(found: Outlook, goal: Goal) -> str:
    hours = found.hours(goal)
    if hours is None:
        return ""
    low, median, high = (duration(3600 * one) if not isinf(one) else "" for one in hours)
    return f", **{median}** of labelling ({f'{low} to {high}' if high else f'from {low} up'})"


def _labels(number: float) -> str:
    """A number of labels in two or three digits: more would be pretended."""
    digits = len(str(int(number))) - 2
    return counted(int(round(number, -digits)) if digits > 0 else max(1, round(number)), "more label")


def _between(low: float, high: float, spent: int) -> str:
    if isinf(high):
        return f"95% interval from {low:,.0f} up: more than 2.5% of the curves take over {REACH * spent:,} labels"
    return f"95% interval {low:,.0f} to {high:,.0f}"
