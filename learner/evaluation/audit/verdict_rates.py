"""The share of positives in each stratum, from few labels and a machine rater's many verdicts.

The model is that of `stratum_rates`, with a sensitivity and a false positive rate of the rater in each stratum. The
sensitivity of a band's strata seldom changes from band to band, and rather falls where it does, since low pairs that
match are the hard ones; the false positive rate is any in each stratum. Both are known as far as labels of pairs with
either verdict tell. So a rater that is worse in some bands misleads no further than the labels there allow, and one
that knows nothing changes little.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from allpairs.learner.evaluation.audit.stratum_rates import (
    FALLS,
    WIDTH,
    BandRates,
    Slow,
    StratumBands,
    shares_on,
    slow_states,
)
from allpairs.learner.evaluation.audit.verdicts import NO, YES, Shares, Verdicts

# log-odds of the sensitivities
LOWEST = -3.5
HIGHEST = 5.0
KEEP = 0.8  # probability that the next band has the same sensitivity
LOWER = 0.15  # probability that it has any up to this one; else it has any
RANGE = 1e-3  # probability on each side of the shares of positive verdicts that are tried
TRIED = 12  # points near a state, of which one is drawn by its likelihood
SURE = 1e-12  # a share is no closer to 0 or 1 than this


@dataclass(frozen=True)
class RaterGrid:
    """How fine the states are.

    sensitivities: values tried; nodes: of the integral over false positive rates; exponent_step: between the values of
    a in `stratum_rates` that are tried.
    """

    sensitivities: int
    nodes: int
    exponent_step: int

    @property
    def log_odds(self) -> np.ndarray:
        """The log-odds of the sensitivities, the middles of equal intervals."""
        return LOWEST + self.width * (np.arange(self.sensitivities) + 0.5)

    @property
    def width(self) -> float:
        """The log-odds from one sensitivity to the next."""
        return (HIGHEST - LOWEST) / self.sensitivities


FINE = RaterGrid(12, 6, 1)  # for figures
COARSE = RaterGrid(5, 3, 3)  # to see where labels help


@dataclass(frozen=True)
class StratumVerdicts:
    """One stratum: pairs read and called positive, and the effective labels and positives (3,) of each verdict.

    low, high: between these the share of all pairs lies that the rater calls positive.
    """

    read: float
    called: float
    labels: np.ndarray
    positives: np.ndarray
    low: float
    high: float

    def false_rates(self, rates: np.ndarray, sensitivity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the lowest false positive rate that fits what it called, and the width up to the highest one."""
        called = rates * sensitivity
        low, high = (np.clip((end - called) / np.maximum(1 - rates, SURE), 0.0, 1.0) for end in (self.low, self.high))
        return low, high - low

    def log_likelihood(self, rates: np.ndarray, sensitivity: np.ndarray, false: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of verdicts and labels; the three broadcast."""
        false = np.clip(false, SURE, 1 - SURE)
        called = np.clip(rates * sensitivity + (1 - rates) * false, SURE, 1 - SURE)
        negatives = self.labels - self.positives
        of_label = self.positives.sum() * np.log(rates) + negatives.sum() * np.log1p(-rates)
        of_positive = self.positives[YES] * np.log(sensitivity) + self.positives[NO] * np.log1p(-sensitivity)
        # labels were drawn by the verdict: what is left are the verdicts on the other pairs
        left = self.called - self.labels[YES], self.read - self.called - self.labels[NO]
        of_negative = negatives[YES] * np.log(false) + negatives[NO] * np.log1p(-false)
        return of_label + of_positive + of_negative + left[0] * np.log(called) + left[1] * np.log1p(-called)


def draw_shares(
    verdicts: Verdicts,
    counts: tuple[np.ndarray, np.ndarray],
    sizes: np.ndarray,
    draws: int,
    rng: np.random.Generator,
    band: np.ndarray | None = None,
    grid: RaterGrid = FINE,
) -> Shares:
    """Draw the strata's shares of positives and the rater's rates in them from their posterior.

    counts: labels and positives as `Verdicts.count` gives them; sizes, band: as in `draw_rates`.
    """
    bands = StratumBands.of(sizes, band, grid.exponent_step)
    log_odds = grid.log_odds
    observed = _observed(verdicts, counts)
    of_bands = [
        _band([observed[h] for h in range(strata.start, strata.stop)], sizes[strata], bands, grid)
        for strata in bands.strata
    ]
    division = slow_states(len(bands.exponents))
    rater = _sensitivities(grid.sensitivities)
    slow = Slow(np.kron(rater.transition, division.transition), np.kron(rater.prior, division.prior))
    drawn = []
    for band_rates, strata, state, place in zip(
        of_bands, bands.strata, *bands.draw(of_bands, draws, rng, slow), strict=True
    ):
        near = log_odds[state // len(bands.exponents)]
        for k, h in enumerate(range(strata.start, strata.stop)):
            drawn.append(_refine(observed[h], band_rates.rates[state, place, k], near, grid.width, rng))
    return Shares(*(np.stack(column, axis=1) for column in zip(*drawn, strict=True)))


def _sensitivities(n: int) -> Slow:
    """Return how so many sensitivities, ascending, follow one another from band to band."""
    even = np.full(n, 1 / n)
    lower = np.tri(n) / np.arange(1, n + 1)[:, None]
    return Slow(KEEP * np.eye(n) + LOWER * lower + (1 - KEEP - LOWER) * even, even)


def _observed(verdicts: Verdicts, counts: tuple[np.ndarray, np.ndarray]) -> list[StratumVerdicts]:
    low, high = beta.ppf([[RANGE], [1 - RANGE]], verdicts.called + 1.0, verdicts.read - verdicts.called + 1.0)
    columns = verdicts.read, verdicts.called, *counts, low, high
    return [StratumVerdicts(*numbers) for numbers in zip(*columns, strict=True)]


def _band(observed: list[StratumVerdicts], sizes: np.ndarray, bands: StratumBands, grid: RaterGrid) -> BandRates:
    """Return a band with its likelihood by sensitivity and a, and log-odds."""
    # without a division a tells nothing: one value of it stands for all
    exponents = bands.exponents if len(sizes) > 1 else bands.exponents[:1]
    rates = shares_on(bands.grid, exponents, sizes)
    sensitivity = _share(grid.log_odds)[:, None, None]
    log_likelihood = sum(
        _integral(stratum, rates[None, :, :, k], sensitivity, grid.nodes) for k, stratum in enumerate(observed)
    )
    whole = np.broadcast_to(log_likelihood, (grid.sensitivities, len(bands.exponents), len(bands.grid)))
    likelihood = np.exp(whole - whole.max()).reshape(-1, len(bands.grid))
    by_exponent = np.broadcast_to(rates, (len(bands.exponents), *rates.shape[1:]))
    return BandRates(np.tile(by_exponent, (grid.sensitivities, 1, 1)), np.tile(likelihood, (1, len(FALLS))))


def _integral(stratum: StratumVerdicts, rates: np.ndarray, sensitivity: np.ndarray, nodes: int) -> np.ndarray:
    """Return the log-likelihood with each false positive rate equally likely; none fits where it is minus infinity."""
    low, width = stratum.false_rates(rates, sensitivity)
    points, weights = np.polynomial.legendre.leggauss(nodes)
    log_likelihoods = [stratum.log_likelihood(rates, sensitivity, low + width * point) for point in (points + 1) / 2]
    top = np.max(log_likelihoods, axis=0)
    summed = sum(weight * np.exp(part - top) for part, weight in zip(log_likelihoods, weights, strict=True))
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(summed) + np.log(width))


def _refine(
    stratum: StratumVerdicts, rates: np.ndarray, near: np.ndarray, width: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw shares of positives, sensitivities and false positive rates (draws,) close to the drawn states.

    Many verdicts know more than the grid's points: of some points around a state one is drawn by its likelihood.
    """
    offset = rng.random((2, len(rates), TRIED)) - 0.5
    tried = _share((np.log(rates) - np.log1p(-rates))[:, None] + WIDTH * offset[0])
    sensitivity = _share(near[:, None] + width * offset[1])
    low, span = stratum.false_rates(tried, sensitivity)
    false = low + span * rng.random(low.shape)
    with np.errstate(divide="ignore"):
        log_likelihood = stratum.log_likelihood(tried, sensitivity, false) + np.log(span)
    top = log_likelihood.max(1, keepdims=True)
    below = np.cumsum(np.exp(log_likelihood - np.where(np.isfinite(top), top, 0.0)), axis=1)
    place = np.minimum((below < rng.random((len(rates), 1)) * below[:, -1:]).sum(1), TRIED - 1)
    return tuple(column[np.arange(len(rates)), place] for column in (tried, sensitivity, false))  # type: ignore[return-value]


def _share(log_odds: np.ndarray) -> np.ndarray:
    return np.clip(1 / (1 + np.exp(-log_odds)), SURE, 1 - SURE)
