"""The standard error of a mean."""

import math
from collections.abc import Sequence
from statistics import stdev


def standard_error(values: Sequence[float]) -> float | None:
    """Return the standard error of the mean, with n − 1 in the variance; None for one value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
