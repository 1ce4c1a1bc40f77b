"""How sure a mean is."""

import math
from collections.abc import Sequence
from statistics import stdev


def standard_error(values: Sequence[float]) -> float | None:
    """The standard error of the mean, the spread taken with n − 1; nothing for one value."""
    return stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
