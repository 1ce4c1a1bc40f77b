"""The share of positives in each stratum, from few labels: falling from band to band, slowly or steeply.

Deep strata are large and hold few positives, so that a sample of one usually shows none. An estimate of each stratum by
itself then knows nothing, and its interval is absurd: half a pseudo-count in a stratum of 500,000 pairs outweighs all
positives there are. But shares are known to fall with the score.

The model: from one band to the next, whose middle lies twice as deep, the log-odds of a positive fall by a uniform
step: of 0.3 to 1 in a slow fall, of 0.7 to 3 in a steep one, of 2 to 6 in a fall off a cliff, as below the matches of a
very good model. The kind seldom changes from band to band, and least of all into a slower fall. (Where log-odds fall by
0.7, each band holds as many positives as the one above it.) Of a divided band's positives, the share F^a is in the
first stratum, which has the share F of its pairs: a is 1 where the division tells nothing and near 0 where it tells
all, and it seldom changes from band to band. That is a hidden Markov model on a grid of log-odds and a, solved exactly.
`docs/log.md` has the simulations that led to it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import toeplitz
from scipy.special import ndtr
from scipy.stats import norm

FALLS = ((0.3, 1.0), (0.7, 3.0), (2.0, 6.0))  # log-odds lost where the depth doubles, by kind
KINDS = np.array([0.45, 0.35, 0.2])  # prior probability of each kind
SWITCH = np.array([[0.83, 0.125, 0.045], [0.065, 0.875, 0.06], [0.18, 0.23, 0.59]])  # of the next step's kind, by row
STEPS = 11  # points that represent the steps of a kind
SMOOTH = 0.3  # their width
START = 5.0  # standard deviation of the first band's log-odds around 0
# of the grid of log-odds
HIGHEST = 10.0
WIDTH = 0.25
DEEPEST = 8.0  # doublings of depth from one band to the next: more than old designs have below their last band
LEAST = 0.1  # a share at which the largest band has fewer positives than this counts as zero
EXPONENTS = np.array([1.0, 0.84, 0.68, 0.51, 0.33, 0.17, 0.07, 0.025, 0.007, 0.0002])  # the grid of a
ALIKE = 0.2  # prior probability that a is 1; the others are equally likely
KEEP = 0.9  # probability that the next band has the same a; else it is drawn anew
SURE = 1e-9  # a share is no closer to 0 or 1 than this


@dataclass(frozen=True)
class BandRates:
    """A band's strata. rates: (a, g, k) shares of positives by a and log-odds; likelihood: (a, states) of labels."""

    rates: np.ndarray
    likelihood: np.ndarray


@dataclass(frozen=True)
class StratumBands:
    """The bands of an audit's strata, before any label.

    strata: of each band; whole: (b,) pairs of each; grid: (g,) log-odds; exponents: (a,) how a band may be divided.
    """

    strata: list[slice]
    whole: np.ndarray
    grid: np.ndarray
    exponents: np.ndarray

    @classmethod
    def of(cls, sizes: np.ndarray, band: np.ndarray | None, step: int = 1) -> "StratumBands":
        """Return the bands of strata of these sizes (h,); band: as in `Sample`; step: between values of a."""
        first = first_strata(sizes, band)
        strata = [slice(a, b) for a, b in zip(first, [*first[1:], len(sizes)], strict=True)]
        whole = np.add.reduceat(sizes, first)
        grid = np.arange(HIGHEST, np.log(LEAST / whole.max()), -WIDTH)[::-1]
        return cls(strata, whole, grid, EXPONENTS[::step] if len(strata) < len(sizes) else EXPONENTS[:1])

    def draw(
        self, bands: list[BandRates], draws: int, rng: np.random.Generator, slow: "Slow | None" = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw the state of each band from the posterior: its slow state (b, draws), and its log-odds' place.

        slow: of the states that seldom change from band to band, those of a if it is not given.
        """
        slow = slow or slow_states(len(self.exponents))
        path = _draw_path(bands, _steps(self.grid, _deepening(self.whole)), self.grid, draws, rng, slow)
        return path // len(FALLS) // len(self.grid), path % len(self.grid)


@dataclass(frozen=True)
class Slow:
    """States that seldom change: the probabilities of the next band's (s, s) given this one's, and the prior ones."""

    transition: np.ndarray
    prior: np.ndarray


def draw_rates(
    positives: np.ndarray,
    labels: np.ndarray,
    sizes: np.ndarray,
    draws: int,
    rng: np.random.Generator,
    band: np.ndarray | None = None,
) -> np.ndarray:
    """Draw (draws, h) the strata's shares of positives from their posterior, the highest stratum first.

    positives, labels: (h,) how many of the labelled pairs are positives, and how many are labelled (whole numbers, or
    effective ones where weights differ); sizes: (h,) pairs in each stratum; band: (h,) int64, as in `Sample`.
    """
    bands = StratumBands.of(sizes, band)
    observed = [_band(positives[strata], labels[strata], sizes[strata], bands) for strata in bands.strata]
    drawn = zip(observed, *bands.draw(observed, draws, rng), strict=True)
    return np.concatenate([strata.rates[exponent, place] for strata, exponent, place in drawn], axis=1)


def first_strata(sizes: np.ndarray, band: np.ndarray | None) -> np.ndarray:
    """Return the first stratum of each band, (b,) int64; without bands each of the strata is one."""
    return np.arange(len(sizes)) if band is None else np.unique(band, return_index=True)[1]


def _band(positives: np.ndarray, labels: np.ndarray, sizes: np.ndarray, bands: StratumBands) -> BandRates:
    rates = shares_on(bands.grid, bands.exponents, sizes)
    log_likelihood = (positives * np.log(rates) + (labels - positives) * np.log1p(-rates)).sum(-1)
    return BandRates(rates, np.tile(np.exp(log_likelihood - log_likelihood.max()), (1, len(FALLS))))


def shares_on(grid: np.ndarray, exponents: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return the shares of positives (a, g, k) in a band's strata of these sizes (k,), by a and the band's log-odds."""
    share = np.repeat(1 / (1 + np.exp(-grid))[None, :], len(exponents), axis=0)
    if len(sizes) == 1:
        return share[:, :, None]
    part = sizes[0] / sizes.sum()
    inside = np.minimum(share * (part**exponents / part)[:, None], np.minimum(share / part, 1 - SURE))
    outside = np.clip((share - part * inside) / (1 - part), 1e-3 * SURE, 1 - SURE)
    return np.stack([inside, outside], axis=-1)


def _draw_path(
    bands: list[BandRates], steps: list[np.ndarray], grid: np.ndarray, draws: int, rng: np.random.Generator, slow: Slow
) -> np.ndarray:
    """Draw (bands, draws) the state of each band: slow state, kind and log-odds in one number."""
    after, reached = _backward(bands, steps, slow.transition)
    start = np.kron(KINDS, norm.pdf(grid, 0, START)) * after[0] * slow.prior[:, None]
    path = np.empty((len(bands), draws), dtype=np.int64)
    path[0] = rng.choice(start.size, size=draws, p=start.ravel() / start.sum())
    for h, step in enumerate(steps, start=1):
        before, state = np.divmod(path[h - 1], start.shape[1])
        exponent = _draw(slow.transition[before] * reached[h][:, state].T, rng)
        path[h] = exponent * start.shape[1] + _draw(step[state] * after[h][exponent], rng)
    return path


def slow_states(exponents: int) -> Slow:
    """Return how so many values of a follow one another from band to band."""
    if exponents == 1:
        return Slow(np.ones((1, 1)), np.ones(1))
    prior = np.r_[ALIKE, np.full(exponents - 1, (1 - ALIKE) / (exponents - 1))]
    return Slow(KEEP * np.eye(exponents) + (1 - KEEP) * prior, prior)


def _deepening(sizes: np.ndarray) -> np.ndarray:
    """Return how many times the depth doubles from the middle of one band to that of the next, (b - 1,)."""
    middle = np.cumsum(sizes) - sizes / 2
    return np.clip(np.log2(middle[1:] / middle[:-1]), 0.25, DEEPEST).round(2)


def _steps(grid: np.ndarray, deepening: np.ndarray) -> list[np.ndarray]:
    """Return for each step the probabilities (states, states) of the next band's kind and log-odds."""
    by_ratio = {ratio: _transitions(grid, ratio) for ratio in set(deepening.tolist())}
    return [by_ratio[ratio] for ratio in deepening.tolist()]


def _transitions(grid: np.ndarray, ratio: float) -> np.ndarray:
    lost = WIDTH * np.arange(1 - len(grid), len(grid))
    kinds = []
    for low, high in FALLS:
        steps = np.linspace(low, high, STEPS) * ratio
        chance = np.exp(-(((lost[:, None] - steps) / SMOOTH) ** 2) / 2).mean(1)
        near = toeplitz(chance[len(grid) - 1 :], chance[len(grid) - 1 :: -1])
        # a step below the grid ends at its bottom
        below = (steps - grid[:, None] + grid[0] + WIDTH / 2) / SMOOTH
        near[:, 0] = ndtr(below).mean(1) * (SMOOTH * np.sqrt(2 * np.pi) / WIDTH)
        kinds.append(near / near.sum(1, keepdims=True))
    states = len(FALLS) * len(grid)
    return np.einsum("jk,kgh->jgkh", SWITCH, np.array(kinds)).reshape(states, states)


def _backward(
    bands: list[BandRates], steps: list[np.ndarray], transition: np.ndarray
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Return, each (a, states) up to a factor, the likelihoods of the labels from each band down: by that band's state,
    and by its a and the state of the band above it.
    """
    after = [bands[-1].likelihood]
    reached = []
    for band, step in zip(bands[-2::-1], steps[::-1], strict=True):
        reached.append(after[-1] @ step.T)
        likelihood = band.likelihood * (transition @ reached[-1])
        after.append(likelihood / likelihood.max())
    return after[::-1], [np.empty(0), *reached[::-1]]


def _draw(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one position (n,) for each row of weights (n, states)."""
    below = np.cumsum(weights, axis=1)
    goal = rng.random(len(weights)) * below[:, -1]
    return np.minimum((below < goal[:, None]).sum(1), weights.shape[1] - 1)
