"""The second stage of a score: what the features of a pair add to it, for the best pairs alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from allpairs.learner.second_stage.pair_features import TEXT_FEATURES

# Each feature, whether it may speak for a match (+1) or against one (-1) or both (0), and the part it belongs to.
FEATURES = {
    "gap_left": (1, "competition"),
    "gap_right": (1, "competition"),
    "rank_left": (-1, "competition"),
    "rank_right": (-1, "competition"),
    **TEXT_FEATURES,
}
EXTREME = 4.0  # standard deviations: a feature further out tells no more
SEAM = 0.01  # of a score: how gently scores approach the floor
HIGHEST = 1.0


@dataclass(frozen=True)
class SecondStage:
    """The new score of a pair that reaches the floor: slope·score + bias + Σ weight·(feature - mean) / deviation.

    mean, deviation, weight: (features,) float64 in the order of FEATURES. The new scores are on the scale of the first,
    so that the same output layer makes probabilities of both.
    """

    floor: float
    slope: float
    bias: float
    mean: np.ndarray
    deviation: np.ndarray
    weight: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """Return it as in a matcher's details; `read` takes it back."""
        rows = zip(FEATURES, self.mean.tolist(), self.deviation.tolist(), self.weight.tolist(), strict=True)
        features = {name: {"mean": mean, "deviation": dev, "weight": weight} for name, mean, dev, weight in rows}
        return {"floor": self.floor, "slope": self.slope, "bias": self.bias, "features": features}

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> "SecondStage":
        """Return the second stage of `as_dict`. Raises KeyError, TypeError or ValueError if it is broken."""
        rows = [given["features"][name] for name in FEATURES]
        columns = (np.array([float(row[key]) for row in rows]) for key in ("mean", "deviation", "weight"))
        floor, slope, bias = (float(given[key]) for key in ("floor", "slope", "bias"))
        return cls(floor, slope, bias, *columns)

    def added(self, values: np.ndarray) -> np.ndarray:
        """Return what each feature adds to the scores of pairs with these features: (n, features) float64."""
        return self.weight * standardized(values, self.mean, self.deviation)

    def score(self, score: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the new scores (n,) float32 of pairs with these scores, all from the floor up, and features."""
        return above(self.slope * score + self.bias + self.added(values).sum(1), self.floor)

    def parts(self, values: np.ndarray) -> dict[str, float]:
        """Return what each part adds to the score of one pair with these features (features,), without the bias."""
        found: dict[str, float] = {}
        for (_, part), amount in zip(FEATURES.values(), self.added(values[None])[0].tolist(), strict=True):
            found[part] = found.get(part, 0.0) + amount
        return found


def standardized(values: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return (values - mean) / deviation, from -4 to 4, float64."""
    return np.clip((values.astype(np.float64) - mean) / deviation, -EXTREME, EXTREME)


def above(score: np.ndarray, floor: float) -> np.ndarray:
    """Return the scores in the same order, from the floor to 1, float32: pairs below the floor keep below them."""
    lifted = floor + SEAM * np.logaddexp(0.0, (score.astype(np.float64) - floor) / SEAM)
    return np.minimum(lifted, HIGHEST).astype(np.float32)
