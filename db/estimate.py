"""A value with its interval, and the interval of a share."""

from dataclasses import asdict, dataclass
from math import sqrt

Z = 1.96  # standard deviations to either side that hold 95 % of a normal distribution


@dataclass(frozen=True)
class Estimate:
    """A value over all pairs with its 95 % interval, its method and the number of labels it is estimated from."""

    value: float
    low: float
    high: float
    method: str
    labels: int = 0

    def as_dict(self) -> dict[str, float | str]:
        """Return `{value, low, high, method, labels}`, as files store it."""
        return asdict(self)


def wilson(hits: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of the share hits / n of a binomial (Wilson 1927); its width is never 0."""
    centre = (hits + Z**2 / 2) / (n + Z**2)
    half = Z / (n + Z**2) * sqrt(hits * (n - hits) / n + Z**2 / 4)
    return max(0.0, centre - half), min(1.0, centre + half)
