"""A mean over seeds with its interval."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import t

LEVEL = 0.95


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its 95 % interval; one seed has none."""

    value: float
    low: float | None = None
    high: float | None = None


def mean_of(values: Sequence[float]) -> Mean:
    """Return the mean with Student's interval: half its width is the standard error times t of n - 1 degrees."""
    n = len(values)
    value = fmean(values)
    if n < 2:
        return Mean(value)
    half = float(t.ppf((1 + LEVEL) / 2, n - 1)) * stdev(values) / math.sqrt(n)
    return Mean(value, value - half, value + half)
