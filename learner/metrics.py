"""Average precision and its relatives from weighted scores (paper 004, section 2.2, equations 1 to 6)."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Curve:
    """Precision and recall at each distinct score of a positive, descending: three float64 arrays of one length."""

    score: np.ndarray
    recall: np.ndarray
    precision: np.ndarray

    def thinned(self, points: int = 500) -> "Curve":
        """At most that many points, evenly spaced in recall, the ends kept: enough for a plot."""
        if len(self.score) <= points:
            return self
        at = np.searchsorted(self.recall, np.linspace(self.recall[0], self.recall[-1], points))
        at = np.unique(np.clip(at, 0, len(self.recall) - 1))
        return Curve(self.score[at], self.recall[at], self.precision[at])

    def as_dict(self) -> dict[str, list[float]]:
        return {"recall": self.recall.tolist(), "precision": self.precision.tolist(), "score": self.score.tolist()}


def curve_from_counts(thresholds: np.ndarray, true: np.ndarray, false: np.ndarray, positives: float) -> Curve:
    """The curve from TP and FP at descending thresholds (score ≥ threshold) and the number of all positives."""
    return Curve(thresholds, true / positives, true / (true + false))


def curve_from_scores(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Curve:
    """The curve of weighted, labelled scores; ties are one threshold. A weight w counts as w equal rows."""
    weights = np.ones(len(scores)) if weights is None else weights
    order = np.argsort(-scores, kind="stable")
    scores, positive, weights = scores[order], labels[order] > 0, weights[order]
    ends = np.r_[np.nonzero(np.diff(scores))[0], len(scores) - 1]
    true, false = np.cumsum(weights * positive)[ends], np.cumsum(weights * ~positive)[ends]
    grows = np.diff(true, prepend=0) > 0
    return curve_from_counts(scores[ends][grows], true[grows], false[grows], true[-1])


def average_precision(curve: Curve) -> float:
    """Σ (Rᵢ − Rᵢ₋₁)·Pᵢ over descending thresholds (equation 6)."""
    return float(np.sum(np.diff(curve.recall, prepend=0.0) * curve.precision))


def precision_at_recall(curve: Curve, recall: float) -> float:
    """The precision at the first threshold whose recall is at least `recall`."""
    at = int(np.searchsorted(curve.recall, recall * (1 - 1e-12)))
    return float(curve.precision[min(at, len(curve.precision) - 1)])
