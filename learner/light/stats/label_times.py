"""How long a label takes: median and spread of the time on screen, and the mean time of labels to come.

`CAP` is the one place that says what counts as labelling: an annotator with a pair on screen for longer was away, or
asked somebody.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

CAP = 60.0  # seconds: a longer time on screen counts as this
NEWEST = 5_000  # answers that the pace is computed from
LEAST = 6  # timed answers that a pace needs: with fewer, even the extremes miss the median in more than 5% of cases


@dataclass(frozen=True)
class Timed:
    """An answer's time on screen in seconds, its annotator, and its day (UTC, days since 1970)."""

    annotator: str
    day: int
    seconds: float


@dataclass(frozen=True)
class LabelPace:
    """Seconds per label. low, high: the 95% interval of the median; first, third: the quartiles; capped: how many
    answers took longer than the cap.
    """

    answers: int
    median: float
    low: float
    high: float
    first: float
    third: float
    capped: int


def capped(seconds: Sequence[float]) -> np.ndarray:
    """Return the times that count as labelling, (n,)."""
    return np.clip(np.asarray(seconds, dtype=float), 0.0, CAP)


def pace(seconds: Sequence[float]) -> LabelPace | None:
    """Return the pace of these answers; None with fewer than six.

    The ends of the median's interval are two of the ordered times: the number of answers below the true median is
    binomial with p = ½ (normal approximation with continuity correction; the extremes where answers are few).
    """
    if len(seconds) < LEAST:
        return None
    ordered = np.sort(capped(seconds))
    n = len(ordered)
    below = max(0, int(n / 2 - 0.5 - 1.96 * sqrt(n) / 2))
    first, median, third = np.percentile(ordered, (25, 50, 75))
    return LabelPace(
        n,
        float(median),
        float(ordered[below]),
        float(ordered[n - 1 - below]),
        float(first),
        float(third),
        int((np.asarray(seconds) > CAP).sum()),
    )


def mean_draws(times: Sequence[Timed], draws: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return draws (draws,) of the mean seconds per future label; None where too few answers are timed.

    A person's labels of one day are alike. So the Bayesian bootstrap (exponential weights) resamples whole days of a
    person, and the mean within them gets its standard error.
    """
    if len(times) < LEAST:
        return None
    seconds = capped([one.seconds for one in times])
    _, group = np.unique([f"{one.day} {one.annotator}" for one in times], return_inverse=True)
    counts = np.bincount(group)
    sums = np.bincount(group, seconds)
    within = seconds - (sums / counts)[group]
    error = sqrt(float(within @ within) / max(1, len(seconds) - len(counts)) / len(seconds))
    weights = rng.standard_exponential((draws, len(counts)))
    means = (weights @ sums) / (weights @ counts)
    return np.maximum(means + error * rng.standard_normal(draws), 0.05)
