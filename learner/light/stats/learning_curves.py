"""How a learning curve may continue: shapes of growth, 0 at the labels spent so far, with slope 1 in log labels."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Shape(Protocol):
    """A shape of growth; `plausible`: its log prior weight."""

    @property
    def plausible(self) -> float: ...

    def growth(self, ratio: np.ndarray) -> np.ndarray:
        """Return the growth at this ratio of labels to labels spent so far."""

    def ratio(self, growth: np.ndarray) -> np.ndarray:
        """Return the ratio at which the growth is reached; infinite where it never is."""


@dataclass(frozen=True)
class Power:
    """(1 − r^−bend) / bend: an inverse power law that ends at 1/bend; log r for bend 0; accelerating for bend < 0."""

    bend: float
    plausible: float

    def growth(self, ratio: np.ndarray) -> np.ndarray:
        logarithm = np.log(ratio)
        return logarithm if self.bend == 0 else -np.expm1(-self.bend * logarithm) / self.bend

    def ratio(self, growth: np.ndarray) -> np.ndarray:
        if self.bend == 0:
            return _exp(growth)
        left = 1 - self.bend * growth
        return _exp(np.where(left > 0, -np.log(np.maximum(left, 1e-300)) / self.bend, np.inf))


@dataclass(frozen=True)
class Decay:
    """(1 − e^(−rate·(r − 1))) / rate: growth linear in the labels at first, which soon ends at 1/rate."""

    rate: float
    plausible: float

    def growth(self, ratio: np.ndarray) -> np.ndarray:
        return -np.expm1(-self.rate * (ratio - 1)) / self.rate

    def ratio(self, growth: np.ndarray) -> np.ndarray:
        left = 1 - self.rate * growth
        return np.where(left > 0, 1 - np.log(np.maximum(left, 1e-300)) / self.rate, np.inf)


def _exp(logarithm: np.ndarray) -> np.ndarray:
    return np.where(logarithm < 700, np.exp(np.minimum(logarithm, 700.0)), np.inf)


BENDS = [round(-0.5 + 0.1 * i, 1) for i in range(26)]  # of powers
BEND = (0.3, 0.5)  # mean and deviation of their prior
RATES = np.geomspace(0.1, 4.0, 12)  # of decays
DECAYS = 0.25  # their total prior weight


def shapes() -> list[Shape]:
    """Return every shape with its prior weight."""
    powers = np.array([-0.5 * ((bend - BEND[0]) / BEND[1]) ** 2 for bend in BENDS])
    powers += np.log((1 - DECAYS) / np.exp(powers).sum())
    return [
        *(Power(bend, float(weight)) for bend, weight in zip(BENDS, powers, strict=True)),
        *(Decay(float(rate), float(np.log(DECAYS / len(RATES)))) for rate in RATES),
    ]
