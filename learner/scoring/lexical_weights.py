"""The weights of lexical similarity beside the encoder's cosine: a logistic regression on the labels, with a prior.

The cosine is the pre-trained encoder's, which has not seen the labels: one trained on them would seem to leave nothing
to add. The weights hold for the trained encoder as well. Hubness is in the regression because labelled pairs were
chosen by a score with the hubness correction: otherwise lexical similarity is credited with what hubness explains.
docs/log.md has both measurements.
"""

from collections.abc import Mapping

import numpy as np
from scipy.optimize import minimize

from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import KINDS
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import sigmoid
from allpairs.learner.search.inner_product import COSINE, scores

# Before there are labels: weights of cosine, hubness, KINDS and bias, and their standard deviations.
MEAN = np.array([10.0, -10.0, 0.0, 0.0, 0.0, 0.0, -5.0])
DEVIATION = np.array([4.0, 5.0, 2.0, 2.0, 2.0, 1.0, 4.0])
# Lexical similarity never counts against two texts, nor hubness for them.
BOUNDS = [(1.0, None), (None, 0.0), *[(0.0, None)] * len(KINDS), (None, None)]
LEAST = 0.02  # a smaller share changes no ranking noticeably, and costs 512 columns


def fit_lexical(dataset: Dataset, labelled: Labelled, pretrained: np.ndarray) -> dict[str, float]:
    """Return the weight of each kind where the cosine's is 1; empty if the cosine alone does as well.

    pretrained: (texts, d + 1) under the pre-trained encoder, the last column being the hubness correction.
    """
    left = labelled.left
    right = labelled.right
    cosines = scores(pretrained[:, :-1], left, right, COSINE)
    hubness = pretrained[left, -1] + pretrained[right, -1]
    return fit_lexical_weights(cosines, hubness, dataset.lexicon.values(left, right), labelled.label)


def fit_lexical_weights(
    cosines: np.ndarray, hubness: np.ndarray, values: np.ndarray, labels: np.ndarray
) -> dict[str, float]:
    """Fit the same weights to labelled pairs: (n,) each, values (n, 4); labels 0 or 1, of both classes, one or none."""
    x = np.column_stack([cosines, hubness, values, np.ones(len(labels))]).astype(np.float64)
    y = labels.astype(np.float64)
    precision = DEVIATION**-2

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = x @ weights
        distance = weights - MEAN
        value = np.sum(np.logaddexp(0, logits) - y * logits) + 0.5 * np.sum(precision * distance**2)
        return float(value), x.T @ (sigmoid(logits) - y) + precision * distance

    best = minimize(loss, MEAN, jac=True, method="L-BFGS-B", bounds=BOUNDS).x
    relative = best[2:-1] / best[0]
    if relative.sum() < LEAST:
        return {}
    return {kind: round(float(weight), 4) for kind, weight in zip(KINDS, relative, strict=True) if weight > LEAST / 4}


def total(weights: Mapping[str, float]) -> float:
    """Return the sum of all weights, including the cosine's."""
    return 1.0 + sum(weights.values())
