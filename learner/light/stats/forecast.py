"""How many labels average precision needs to reach a target: a learning curve fitted to the trained rounds.

The curve: logit AP(n) = level + slope · growth(n / labels so far), for every shape of growth in
`learning_curves`. For each shape, and each deviation between trainings on the same number of labels,
level and slope have their posterior in closed form (Bayesian linear regression). The draws come from all of them,
weighted by how well each explains the rounds: a few rounds cannot tell shapes apart, so none is selected.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.learner.light.stats.learning_curves import shapes

LEAST = 3  # trained rounds that a forecast needs
DRAWS = 4_000
REACH = 30  # the forecast ends at this multiple of the labels spent so far
TAILS = (2.5, 50, 97.5)  # per cent
SHARED = 0.9  # the common part of the variance of estimates from the same audit labels: their errors are correlated

# The prior, in logits of average precision.
SLOPE = (0.2, 0.3)  # mean and deviation of the gain for e times the labels
LEVEL = 10.0  # deviation: uninformative
DEVIATIONS = np.geomspace(0.01, 0.5, 12)  # the grid
DEVIATION = 0.06  # scale of a half-normal


@dataclass(frozen=True)
class Point:
    """A trained round: labels, average precision with its 95% interval, and whether audit labels measured it."""

    labels: int
    value: float
    low: float
    high: float
    audited: bool = False


@dataclass(frozen=True)
class Goal:
    """What a target takes. labels: (draws,) total labels, infinite where a draw does not get there within the reach."""

    target: float
    labels: np.ndarray

    @property
    def reached(self) -> float:
        """The share of the draws that reach the target."""
        return float(np.isfinite(self.labels).mean())

    @property
    def interval(self) -> tuple[float, float, float]:
        """The 2.5%, 50% and 97.5% quantiles of the draws; infinite where that many draws do not reach the target."""
        low, median, high = np.percentile(self.labels, TAILS, method="higher")
        return float(low), float(median), float(high)


@dataclass(frozen=True)
class Learning:
    """Draws of the learning curve: index in `shapes()`, level, slope and deviation, each (draws,); `spent`: labels."""

    spent: int
    shape: np.ndarray
    level: np.ndarray
    slope: np.ndarray
    deviation: np.ndarray

    def curve(self, labels: np.ndarray) -> np.ndarray:
        """Return the average precision at these labels (k,) in each draw, (draws, k)."""
        return expit(self._logit(labels))

    def rounds(self, labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return the average precision of one training on so many labels (k,), with its own deviation, (draws, k)."""
        deviations = rng.standard_normal((len(self.level), len(labels))) * self.deviation[:, None]
        return expit(self._logit(labels) + deviations)

    def _logit(self, labels: np.ndarray) -> np.ndarray:
        growth = np.array([shape.growth(labels / self.spent) for shape in shapes()])
        return self.level[:, None] + self.slope[:, None] * growth[self.shape]

    def goal(self, target: float) -> Goal:
        """Return the labels until each curve reaches the target; a curve already there takes the labels spent."""
        missing = logit(np.array(target)) - self.level
        growth = np.divide(missing, self.slope, out=np.full_like(missing, np.inf), where=self.slope > 0)
        ratio = np.full_like(missing, np.inf)
        for place, shape in enumerate(shapes()):
            of_shape = (self.shape == place) & np.isfinite(growth)
            ratio[of_shape] = shape.ratio(growth[of_shape])
        ratio = np.where(missing <= 0, 1.0, np.where(ratio <= REACH, ratio, np.inf))
        return Goal(target, ratio * self.spent)

    def highest(self) -> float:
        """Return the average precision that 97.5% of the curves do not exceed within the reach."""
        return float(np.percentile(self.curve(np.array([REACH * self.spent])), TAILS[-1]))


def learn(points: Sequence[Point], rng: np.random.Generator) -> Learning | None:
    """Return draws of the curve through the trained rounds; None with fewer than three rounds of different sizes."""
    if len({point.labels for point in points}) < LEAST:
        return None
    spent = max(point.labels for point in points)
    error = np.array([_error(point) for point in points])
    shared = np.array([SHARED if point.audited else 0.0 for point in points])
    fits = _fit(
        np.array([point.labels for point in points]) / spent,
        logit(np.array([point.value for point in points])),
        error**2 * (1 - shared),
    )
    weight = np.exp(fits.weight - fits.weight.max())
    chosen = rng.choice(weight.size, DRAWS, p=(weight / weight.sum()).ravel())
    shape, deviation = np.unravel_index(chosen, weight.shape)
    drawn = fits.mean[shape, deviation]
    drawn = drawn + (fits.root[shape, deviation] @ rng.standard_normal((DRAWS, 2, 1)))[:, :, 0]
    alike = rng.standard_normal(DRAWS) * np.sqrt(shared[-1]) * error[-1]
    return Learning(spent, shape, drawn[:, 0] + alike, drawn[:, 1], DEVIATIONS[deviation])


@dataclass(frozen=True)
class _Fits:
    """For s shapes and d deviations: means (s, d, 2) and covariance roots (s, d, 2, 2) of level and slope, and the log
    weight (s, d).
    """

    mean: np.ndarray
    root: np.ndarray
    weight: np.ndarray


def _fit(ratio: np.ndarray, value: np.ndarray, variance: np.ndarray) -> _Fits:
    """Return the posteriors. ratio, value, variance, (k,): labels over labels spent, logits, the logits' variances."""
    growth = np.array([shape.growth(ratio) for shape in shapes()])  # (s, k)
    design = np.stack([np.ones_like(growth), growth], axis=-1)[:, None]  # (s, 1, k, 2)
    noise = (variance + DEVIATIONS[:, None] ** 2)[:, :, None] * np.eye(len(ratio))  # (d, k, k)
    prior = np.diag([LEVEL**2, SLOPE[1] ** 2])
    centre = np.array([0.0, SLOPE[0]])
    turned = design.swapaxes(-1, -2)
    marginal = design @ prior @ turned + noise  # (s, d, k, k)
    gain = np.linalg.solve(marginal, np.broadcast_to(design @ prior, (*marginal.shape[:3], 2))).swapaxes(-1, -2)
    rest = (value - design @ centre)[..., None]  # (s, 1, k, 1)
    covariance = prior - gain @ design @ prior
    root = np.linalg.cholesky((covariance + covariance.swapaxes(-1, -2)) / 2 + 1e-12 * np.eye(2))
    solved = np.linalg.solve(marginal, np.broadcast_to(rest, (*marginal.shape[:3], 1)))
    misfit = (np.broadcast_to(rest, solved.shape) * solved).sum((-1, -2))
    before = np.array([shape.plausible for shape in shapes()])[:, None] + _plausible_deviation()
    return _Fits(centre + (gain @ rest)[..., 0], root, before - 0.5 * (misfit + np.linalg.slogdet(marginal).logabsdet))


def _plausible_deviation() -> np.ndarray:
    """Return the log prior weights of the deviations: half-normal, on a grid that is even in the logarithm."""
    weights: np.ndarray = np.log(DEVIATIONS) - 0.5 * (DEVIATIONS / DEVIATION) ** 2
    return weights


def _error(point: Point) -> float:
    """Return the standard error of the measurement in logits."""
    low, high = logit(np.array([point.low, point.high]))
    return float(max(0.0, high - low) / (2 * 1.96))


def logit(share: np.ndarray) -> np.ndarray:
    """Return the log odds of shares, clipped away from 0 and 1."""
    clipped = np.clip(share, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(clipped / (1 - clipped)))


def expit(odds: np.ndarray) -> np.ndarray:
    """Return the shares of log odds."""
    return 0.5 * (1 + np.tanh(odds / 2))
