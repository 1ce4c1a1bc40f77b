"""The second stage of a score: what the features of a pair add to it, for the best pairs alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from allpairs.db.domain import FieldKind
from allpairs.learner.data.fields import Field
from allpairs.learner.second_stage.agreement import ColumnAgreement
from allpairs.learner.second_stage.field_features import FieldFeatures, Kinds, cuts_of, field_features, has_agreement
from allpairs.learner.second_stage.pair_features import TEXT_FEATURES

# Features of any texts, whether each may speak for a match (+1) or against one (-1) or both (0), and its part.
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

    mean, deviation, weight: (features,) float64 in the order of `features`. A feature that is missing, NaN, adds
    nothing. The new scores are on the scale of the first, so that the same output layer makes probabilities of both.
    kinds: of the columns that it compares; agreement: of these, where there are several.
    """

    floor: float
    slope: float
    bias: float
    mean: np.ndarray
    deviation: np.ndarray
    weight: np.ndarray
    kinds: Kinds = field(default_factory=dict)
    agreement: ColumnAgreement | None = None

    @property
    def features(self) -> dict[str, tuple[int, str]]:
        """The features: whether each may speak for a match, and the part of a score that it belongs to."""
        return features_with(self.kinds)

    def as_dict(self) -> dict[str, Any]:
        """Return it as in a matcher's details; `read` takes it back."""
        rows = zip(self.features, self.mean.tolist(), self.deviation.tolist(), self.weight.tolist(), strict=True)
        features = {name: {"mean": mean, "deviation": dev, "weight": weight} for name, mean, dev, weight in rows}
        known = {"floor": self.floor, "slope": self.slope, "bias": self.bias, "features": features}
        agreement = {"agreement": self.agreement.as_dict()} if self.agreement else {}
        return known | ({"columns": dict(self.kinds)} if self.kinds else {}) | agreement

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> "SecondStage":
        """Return the second stage of `as_dict`. Raises KeyError, TypeError or ValueError if it is broken."""
        kinds = {name: FieldKind(kind) for name, kind in stored.get("columns", {}).items()}
        rows = [stored["features"][name] for name in features_with(kinds)]
        mean, deviation, weight = (
            np.array([float(row[key]) for row in rows]) for key in ("mean", "deviation", "weight")
        )
        floor, slope, bias = (float(stored[key]) for key in ("floor", "slope", "bias"))
        agreement = ColumnAgreement.read(stored["agreement"], cuts_of(kinds)) if has_agreement(kinds) else None
        return cls(floor, slope, bias, mean, deviation, weight, kinds, agreement)

    def fields(self, columns: Sequence[Field]) -> FieldFeatures:
        """Return the features by these columns of texts."""
        return FieldFeatures(columns, self.kinds, self.agreement)

    def added(self, values: np.ndarray) -> np.ndarray:
        """Return what each feature adds to the scores of pairs with these features: (n, features) float64."""
        return self.weight * standardized(values, self.mean, self.deviation)

    def score(self, score: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the new scores (n,) float32 of pairs with these scores, all from the floor up, and features."""
        return above(self.slope * score + self.bias + self.added(values).sum(1), self.floor)

    def parts(self, values: np.ndarray) -> dict[str, float]:
        """Return what each part adds to the score of one pair with these features (features,), without the bias.

        What columns add by their agreement is theirs, and what remains of it belongs to the constant.
        """
        added = self.added(values[None])[0].tolist()
        parts = [part for _, part in self.features.values()]
        if self.agreement:
            figures = values[None, -1 - len(self.agreement.cuts) : -1]
            by_column = (self.agreement.amounts(figures)[0] * self.weight[-1] / self.deviation[-1]).tolist()
            parts += parts[-1 - len(by_column) : -1]
            added[-1] -= sum(by_column)
            added += by_column
        amounts: dict[str, float] = {}
        for part, amount in zip(parts, added, strict=True):
            amounts[part] = amounts.get(part, 0.0) + amount
        return amounts


def features_with(kinds: Kinds) -> dict[str, tuple[int, str]]:
    """Return the features of texts with these columns, in order."""
    return FEATURES | field_features(kinds)


def standardized(values: np.ndarray, mean: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """Return (values - mean) / deviation, from -4 to 4, float64; 0 for what is missing, NaN."""
    deviations = (values.astype(np.float64) - mean) / deviation
    return np.clip(np.nan_to_num(deviations, nan=0.0), -EXTREME, EXTREME)


def above(score: np.ndarray, floor: float) -> np.ndarray:
    """Return the scores in the same order, from the floor to 1, float32: pairs below the floor keep below them."""
    lifted = floor + SEAM * np.logaddexp(0.0, (score.astype(np.float64) - floor) / SEAM)
    return np.minimum(lifted, HIGHEST).astype(np.float32)
