"""A value with its interval, whether a target is reached by it, and the interval of a share."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite, sqrt
from typing import Any

Z = 1.96  # standard deviations to either side that hold 95 % of a normal distribution


@dataclass(frozen=True)
class Estimate:
    """A value over all pairs with its 95 % interval and its method.

    labels: the number of labels it is estimated from; 0: it is computed from known pairs.
    """

    value: float
    low: float
    high: float
    method: str
    labels: int = 0

    def as_dict(self) -> dict[str, float | str]:
        """Return `{value, low, high, method, labels}`, as files store it."""
        return asdict(self)


def stored_estimate(estimates: Mapping[str, Any], measure: str) -> Estimate | None:
    """Return a measure from an evaluation's estimates; None where it could not be measured."""
    stored = estimates.get(measure)
    if not stored or stored["value"] is None or not isfinite(stored["value"]):
        return None
    return Estimate(stored["value"], stored["low"], stored["high"], stored["method"], stored.get("labels", 0))


def is_reached(estimates: Mapping[str, Any], certain: bool | None, target: float) -> bool | None:
    """Return whether the target precision is reached; None where that cannot be told.

    certain: what the audit labels say, whichever way one looks; None: nothing. Else only an exact figure tells.
    """
    precision = stored_estimate(estimates, "precision")
    if certain is not None or precision is None or precision.method != "exact":
        return certain
    return precision.value >= target


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of the share hits / n of a binomial (Wilson 1927); its width is never 0."""
    centre = (hits + Z**2 / 2) / (n + Z**2)
    half = Z / (n + Z**2) * sqrt(hits * (n - hits) / n + Z**2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)
