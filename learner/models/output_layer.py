"""The output layer of CosineBERT: p = sigmoid(w·cos + b), refitted to convergence on frozen embeddings."""

import math
from dataclasses import dataclass, field

import numpy as np

STEPS = 10_000  # part of the definition: separable labels have no optimum (as in Mussmann, Jia and Liang's code)


@dataclass(frozen=True)
class OutputLayer:
    """w ≥ 0 and b on raw cosines, and the mean logistic loss of the fit."""

    w: float
    b: float
    loss: float = field(default=float("nan"), compare=False)  # nan, which equals nothing, where it is unknown

    @property
    def threshold(self) -> float | None:
        """The score where p = 1/2; None if the score tells nothing (w = 0)."""
        return -self.b / self.w if self.w else None

    def logit(self, scores: np.ndarray) -> np.ndarray:
        """Return w·cos + b, of the shape of `scores`."""
        return self.w * scores.astype(np.float64) + self.b

    def probability(self, scores: np.ndarray) -> np.ndarray:
        """Return sigmoid(w·cos + b), of the shape of `scores`."""
        return sigmoid(self.logit(scores))

    def score(self, p: float) -> float:
        """Return the score whose probability is p; w must not be 0."""
        return (math.log(p / (1 - p)) - self.b) / self.w


def sigmoid(logits: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-logits)), without overflow."""
    return 0.5 * (1 + np.tanh(logits / 2))


def probability_of(layer: OutputLayer | None, score: np.ndarray) -> np.ndarray:
    """Return the probabilities, or without a layer the scores, (n,) float64."""
    return score.astype(np.float64) if layer is None else layer.probability(score)


def fit_output_layer(scores: np.ndarray, labels: np.ndarray, steps: int = STEPS) -> OutputLayer:
    """Fit the layer by gradient descent (rate 1, start 0) on standardised cosines, and map it back to raw cosines.

    scores: (n,) cosines; labels: (n,) 0 or 1. Stops early only if the gradient has vanished (below 1e-12). w ≥ 0 by
    projection. Source: Mussmann, Jia and Liang (2020), appendix A.1.
    """
    scores = scores.astype(np.float64)
    labels = labels.astype(np.float64)
    mean = scores.mean()
    deviation = scores.std() or 1.0
    z = (scores - mean) / deviation
    inputs = np.stack([z, np.ones(len(z))])
    # sigmoid(x) - label = (tanh(x / 2) + 1 - 2 label) / 2: all but the tanh is worked out once.
    halves = inputs.T / 2
    means = inputs / (2 * len(z))
    constant = means @ (1 - 2 * labels)
    weights = np.zeros(2)
    for _ in range(steps):
        gradient = means @ np.tanh(halves @ weights) + constant
        if abs(gradient[0]) < 1e-12 and abs(gradient[1]) < 1e-12:
            break
        weights -= gradient
        weights[0] = max(0.0, weights[0])
    w, b = map(float, weights)
    logits = w * z + b
    loss = float(np.mean(np.logaddexp(0, logits) - labels * logits))
    return OutputLayer(w / deviation, b - w * mean / deviation, loss)
