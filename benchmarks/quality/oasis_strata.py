"""The input of OASIS: calibrated scores, and strata made from them."""

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import isotonic_regression

from benchmarks.data.pools import Pool, bands_to
from benchmarks.quality.oasis_peer import STRATA, Strata

TOP = 16  # pairs in each of the two highest calibration bands
GRID = 20_000  # ranks at which the probability is stored
BINS = 100_000  # of the scores' histogram


@dataclass(frozen=True)
class Calibrated:
    """The probability of a positive by rank, fitted on the truth. rank: (g,) ascending from 0; below: (g,) its sum."""

    rank: np.ndarray
    chance: np.ndarray
    below: np.ndarray

    def strata(self, edges: np.ndarray) -> Strata:
        """Return the strata between those ranks with their mean probability."""
        total = np.diff(np.interp(edges, self.rank, self.below))
        return Strata(edges, total / np.diff(edges))


def calibrate(pool: Pool) -> Calibrated:
    """Fit falling (isotonic) shares of positives in doubling bands, with linear log-odds between the bands' middles."""
    edges = bands_to(pool.pairs, TOP, pool.pairs)
    sizes = np.diff(edges)
    share = (np.histogram(pool.positives, edges + 0.5)[0] + 0.5) / (sizes + 1)
    share = isotonic_regression(share, sample_weight=sizes, increasing=False)
    middle = np.log(edges[:-1] + sizes / 2)
    rank = np.r_[0.0, np.geomspace(1, pool.pairs, GRID)]
    odds = np.interp(np.log(np.maximum(rank, 1)), middle, np.log(share / (1 - share)))
    chance = 1 / (1 + np.exp(-odds))
    steps = np.diff(rank) * (chance[1:] + chance[:-1]) / 2
    return Calibrated(rank, chance, np.r_[0.0, np.cumsum(steps)])


def csf_strata(calibrated: Calibrated, strata: int = STRATA, bins: int = BINS) -> Strata:
    """Return strata by the cumulative square root of the probabilities' histogram (Dalenius and Hodges 1959)."""
    cuts = np.linspace(calibrated.chance[0], 0.0, bins + 1)[1:]
    # where the probability is constant, interpolate towards the next lower one
    ends = np.interp(-cuts, -calibrated.chance, calibrated.rank)
    ends[-1] = calibrated.rank[-1]
    height = np.cumsum(np.sqrt(np.diff(ends, prepend=0.0)))
    goals = height[-1] * np.arange(1, strata + 1) / strata
    chosen = np.round(ends[np.minimum(np.searchsorted(height, goals), bins - 1)]).astype(np.int64)
    return calibrated.strata(np.unique(np.r_[0, chosen]))
