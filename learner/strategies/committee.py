"""Query by committee: the candidates on which small models on frozen vectors disagree most.

Source: Seung, Opper and Sompolinsky (1992), with bootstrapped members (Abe and Mamitsuka 1998).
"""

import numpy as np

from allpairs.db.errors import InputError
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import sigmoid
from allpairs.learner.search.exact import Pairs
from allpairs.learner.strategies.basic import smallest
from allpairs.learner.strategies.pool import Pool

HEADS = 8
WIDTH = 32  # random directions onto which |a-b| and a·b are projected
RIDGE = 1.0  # of the weights of standardised features
STEPS = 12  # of Newton's method
CHUNK = 20_000  # pairs whose vectors are in memory at once


def committee(pool: Pool, n: int, rng: np.random.Generator) -> Pairs:
    """Return the n candidates whose p varies most over the committee, the most varied first.

    Raises InputError unless the labels so far are of both kinds.
    """
    labelled = pool.background.labelled
    if not labelled.has_both_classes:
        raise InputError("the committee needs labels of both kinds: label more pairs, or choose another strategy")
    directions = rng.normal(size=(2, pool.vectors.shape[1], WIDTH)).astype(np.float32)
    known = _features(pool.vectors, labelled.left, labelled.right, directions)
    centre, scale = known.mean(0), known.std(0) + 1e-6
    heads = fit_heads((known - centre) / scale, labelled, rng)
    pairs, spread = pool.candidates, np.empty(len(pool.candidates))
    for at in range(0, len(pairs), CHUNK):
        here = slice(at, at + CHUNK)
        features = (_features(pool.vectors, pairs.left[here], pairs.right[here], directions) - centre) / scale
        spread[here] = sigmoid(_with_constant(features) @ heads).var(1)
    return pairs.take(smallest(-spread, n))


def fit_heads(features: np.ndarray, labelled: Labelled, rng: np.random.Generator) -> np.ndarray:
    """Fit ridge logistic regressions, each on a bootstrap sample; return weights (k + 1, HEADS), the constants last.

    features: (n, k) of the labelled pairs, standardised.
    """
    x, y = _with_constant(features), labelled.label.astype(np.float64)
    times = rng.poisson(1.0, size=(HEADS, len(y)))
    return np.column_stack([_logistic(x, y, weight) for weight in times])


def _logistic(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weights (k,) of a ridge logistic regression, by Newton's method."""
    found, ridge = np.zeros(x.shape[1]), RIDGE * np.eye(x.shape[1])
    for _ in range(STEPS):
        p = sigmoid(x @ found)
        slope = x.T @ (weight * (p - y)) + RIDGE * found
        curvature = (x * (weight * p * (1 - p))[:, None]).T @ x + ridge
        found = found - np.linalg.solve(curvature, slope)
    return found


def _features(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return features (n, 1 + 2·WIDTH) float32 of the pairs: inner product, and |a-b| and a·b in random directions."""
    one, other = vectors[left], vectors[right]
    product = one * other
    apart = np.abs(one - other)
    return np.hstack([product.sum(1, keepdims=True), apart @ directions[0], product @ directions[1]])


def _with_constant(features: np.ndarray) -> np.ndarray:
    return np.hstack([features.astype(np.float64), np.ones((len(features), 1))])
