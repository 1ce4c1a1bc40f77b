"""How long a label takes: the median and spread of the time on screen, and the hours that more labels would take.

`CAP` is the one place that says what counts as labelling: whoever shows a pair for longer was away, or asked somebody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

CAP = 60.0  # seconds: a longer time on screen counts as this
NEWEST = 5_000  # answers that the pace is reckoned from
LEAST = 6  # timed answers from which on there is a pace: of fewer, even the extremes miss the median in more than 5 %


@dataclass(frozen=True)
class Timed:
    """An answer's time on screen in seconds, who gave it, and on which day (of UTC, days since 1970)."""

    annotator: str
    day: int
    seconds: float


@dataclass(frozen=True)
class Pace:
    """Seconds for a label. low, high: the 95 % interval of the median; first, third: its quartiles, half of the answers
    lie between; capped: answers that took longer than the cap.
    """

    answers: int
    median: float
    low: float
    high: float
    first: float
    third: float
    capped: int


def capped(seconds: Sequence[float]) -> np.ndarray:
    """The times that count as labelling, (n,)."""
    return np.clip(np.asarray(seconds, dtype=float), 0.0, CAP)


def pace(seconds: Sequence[float]) -> Pace | None:
    """The pace of these answers; nothing where there are fewer than six.

    The interval of the median lies between two of the ordered times: so many of n answers as are below the true median
    are a binomial of ½ (its normal approximation with correction for continuity; the extremes where answers are few).
    """
    if len(seconds) < LEAST:
        return None
    ordered = np.sort(capped(seconds))
    n = len(ordered)
    below = max(0, int(n / 2 - 0.5 - 1.96 * sqrt(n) / 2))
    first, median, third = np.percentile(ordered, (25, 50, 75))
    return Pace(
        n, float(median), float(ordered[below]), float(ordered[n - 1 - below]), float(first), float(third),
        int((np.asarray(seconds) > CAP).sum()),
    )  # fmt: skip


def mean_draws(times: Sequence[Timed], draws: int, rng: np.random.Generator) -> np.ndarray | None:
    """Draws (draws,) of the mean seconds of a label to come; nothing where there are too few.

    A person's labels of one day are alike, so whole days of a person are weighed anew (Bayesian bootstrap: exponential
    weights), and within them the mean has its standard error.
    """
    if len(times) < LEAST:
        return None
    seconds = capped([one.seconds for one in times])
    _, group = np.unique([f"{one.day} {one.annotator}" for one in times], return_inverse=True)
    counts, sums = np.bincount(group), np.bincount(group, seconds)
    within = seconds - (sums / counts)[group]
    error = sqrt(float(within @ within) / max(1, len(seconds) - len(counts)) / len(seconds))
    weights = rng.standard_exponential((draws, len(counts)))
    means = (weights @ sums) / (weights @ counts)
    return np.maximum(means + error * rng.standard_normal(draws), 0.05)
