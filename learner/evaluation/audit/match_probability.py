"""Each labelled pair's probability of being a positive: a logistic regression of the label on ranks."""

import numpy as np

STEPS = 25  # of Newton's method
PRIOR = np.array([5.0, 2.0])  # standard deviation of the intercept and of the other coefficients
FLAT = 30.0  # logits beyond this are as good as certain


def draw_chances(
    positive: np.ndarray, ranks: np.ndarray, draws: int, rng: np.random.Generator, verdicts: np.ndarray | None = None
) -> np.ndarray:
    """Draw (draws, n) each labelled pair's probability of being a positive, given its rank under every model.

    positive: (n,) bool; ranks: (n, m); verdicts: (n,) int64, a machine rater's verdicts, if the pairs were drawn by
    them. Features are the logarithms of the ranks, and each verdict; the coefficients are drawn from the normal
    approximation of their posterior. The sampling design does not matter here, since it depends on these alone.
    """
    features = _features(ranks)
    if verdicts is not None:
        features = np.column_stack([features, *(verdicts == verdict for verdict in np.unique(verdicts)[1:])])
    mean, spread = _posterior(features, positive.astype(np.float64))
    coefficients = mean + rng.standard_normal((draws, len(mean))) @ spread.T
    return _chance(coefficients @ features.T)


def _features(ranks: np.ndarray) -> np.ndarray:
    """Return a column of ones and the standardized logarithms of the ranks, (n, m + 1)."""
    logarithms = np.log(ranks)
    deviation = logarithms.std(0)
    scaled = (logarithms - logarithms.mean(0)) / np.where(deviation > 0, deviation, 1.0)
    return np.column_stack([np.ones(len(ranks)), scaled])


def _posterior(features: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mode of the coefficients (k,), and the Cholesky factor (k, k) of their covariance there."""
    precision = np.diag(np.r_[PRIOR[0] ** -2.0, np.full(features.shape[1] - 1, PRIOR[1] ** -2.0)])
    mean = np.zeros(features.shape[1])
    for _ in range(STEPS):
        chance = _chance(features @ mean)
        curvature = features.T @ (features * (chance * (1 - chance))[:, None]) + precision
        mean = mean + np.linalg.solve(curvature, features.T @ (label - chance) - precision @ mean)
    return mean, np.linalg.cholesky(np.linalg.inv(curvature))


def _chance(logit: np.ndarray) -> np.ndarray:
    chance: np.ndarray = 1 / (1 + np.exp(-np.clip(logit, -FLAT, FLAT)))
    return chance
