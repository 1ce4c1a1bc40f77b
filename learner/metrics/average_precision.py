"""Average precision and related figures from weighted scores.

Source: Mussmann, Jia and Liang (2020), section 2.2, equations 1 to 6.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """Precision and recall at each distinct score of a positive, descending: float64 arrays of one length.

    `low` and `high` are a pointwise 95 % band of the precision, if there is one.
    """

    score: np.ndarray
    recall: np.ndarray
    precision: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def thinned(self, points: int = 500) -> "Curve":
        """Return at most that many points, evenly spaced in recall, the ends included: enough for a plot."""
        return self if len(self.score) <= points else self.take(self.spread(points))

    def spread(self, points: int) -> np.ndarray:
        """Return the positions of at most that many points, evenly spaced in recall, the ends included; ascending."""
        positions = np.searchsorted(self.recall, np.linspace(self.recall[0], self.recall[-1], points))
        return np.unique(np.clip(positions, 0, len(self.recall) - 1))

    def take(self, positions: np.ndarray) -> "Curve":
        """Return the points at those positions, in that order."""
        return Curve(**{name: column[positions] for name, column in self._columns().items()})

    def as_dict(self) -> dict[str, list[float]]:
        """Return equally long lists: recall, precision, score and, where there is a band, low and high."""
        return {name: column.tolist() for name, column in self._columns().items()}

    def _columns(self) -> dict[str, np.ndarray]:
        columns = {"recall": self.recall, "precision": self.precision, "score": self.score}
        return {**columns, **{name: band for name in ("low", "high") if (band := getattr(self, name)) is not None}}


@dataclass(frozen=True)
class Confusion:
    """True and false positives at one threshold (score ≥ threshold), and the number of all positives."""

    true: float
    false: float
    positives: float

    def figures(self) -> dict[str, float]:
        """Return precision, recall and F1; no precision if no score reaches the threshold."""
        predicted = self.true + self.false
        precision = {"precision": self.true / predicted} if predicted else {}
        return {**precision, "recall": self.true / self.positives, "f1": 2 * self.true / (predicted + self.positives)}


def ranking_figures(curve: Curve, confusion: Confusion | None) -> dict[str, float]:
    """Return average precision, precision at recall 0.2 and, given a threshold, precision, recall and F1 at it."""
    ranked = {
        "average_precision": average_precision(curve),
        "precision_at_recall_20": precision_at_recall(curve, 0.2),
    }
    return {**ranked, **(confusion.figures() if confusion else {})}


def curve_from_counts(thresholds: np.ndarray, true: np.ndarray, false: np.ndarray, positives: float) -> Curve:
    """Return the curve from TP and FP at descending thresholds (score ≥ threshold) and the number of all positives."""
    return Curve(thresholds, true / positives, true / (true + false))


def curve_from_scores(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Curve:
    """Return the curve of weighted, labelled scores; ties are one threshold. A weight w counts as w equal rows."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    positive = labels[order] > 0
    weights = weights[order]
    ends = np.r_[np.nonzero(np.diff(scores))[0], len(scores) - 1]
    true = np.cumsum(weights * positive)[ends]
    false = np.cumsum(weights * ~positive)[ends]
    grows = np.diff(true, prepend=0) > 0
    return curve_from_counts(scores[ends][grows], true[grows], false[grows], true[-1])


def average_precision(curve: Curve) -> float:
    """Return Σ (Rᵢ − Rᵢ₋₁)·Pᵢ over descending thresholds (equation 6)."""
    return float(np.sum(np.diff(curve.recall, prepend=0.0) * curve.precision))


def precision_at_recall(curve: Curve, recall: float) -> float:
    """Return the precision at the first threshold whose recall is at least `recall`."""
    position = int(np.searchsorted(curve.recall, recall * (1 - 1e-12)))
    return float(curve.precision[min(position, len(curve.precision) - 1)])
