"""Confidence sequences of a proportion: bounds that hold however often one looks, for rules that stop or announce.

A confidence interval made for one look fails when it is looked at after every label: some look is bound to be lucky.
Source: the beta-binomial mixture martingale (Robbins 1970; Howard, Ramdas, McAuliffe and Sekhon 2021). Under a true
share t, the probability that B(k+1, n−k+1) / (tᵏ (1−t)ⁿ⁻ᵏ) ever exceeds 1/alpha is at most alpha (Ville's inequality);
shares at which it does are excluded.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaln, xlog1py, xlogy

ALPHA = 0.05
HALVINGS = 50  # of the interval around the bound: to the last digits of a float64


def lower(k: ArrayLike, n: ArrayLike, alpha: float = ALPHA) -> np.ndarray:
    """Return the lower bound of the share when k of n labels are positives, float64 of the common shape of k and n.

    Together with `upper` it holds at all n at once with a probability of at least 1 − alpha. Without labels it is 0.
    """
    k, n = np.broadcast_arrays(np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64))
    excluded = np.zeros(n.shape)
    possible = k / np.maximum(n, 1)
    for _ in range(HALVINGS):
        middle = (excluded + possible) / 2
        beyond = _log_martingale(k, n, middle) > -np.log(alpha)
        excluded = np.where(beyond, middle, excluded)
        possible = np.where(beyond, possible, middle)
    return excluded


def upper(k: ArrayLike, n: ArrayLike, alpha: float = ALPHA) -> np.ndarray:
    """Return the upper bound of the share, as `lower`. Without labels it is 1."""
    return 1 - lower(np.subtract(n, k), n, alpha)


def stratified_lower(sizes: ArrayLike, k: ArrayLike, n: ArrayLike, alpha: float = ALPHA) -> float:
    """Return the lower bound of the share of positives in a population of strata that are sampled independently.

    sizes: (h,) pairs of the population in each stratum, for a precision those at or above the threshold, at least one
    in all; k, n: (h,) positives and labels among these pairs. Each non-empty stratum gets an equal part of the error
    alpha, so the bound holds at all times whatever the order of the labels. Labelled pairs are known: no stratum holds
    fewer positives than were found.
    """
    sizes, k, n = (np.asarray(column, dtype=np.float64) for column in (sizes, k, n))
    inside = sizes > 0
    rates = lower(k[inside], n[inside], alpha / inside.sum())
    return float(np.maximum(rates * sizes[inside], k[inside]).sum() / sizes.sum())


def _log_martingale(k: np.ndarray, n: np.ndarray, share: np.ndarray) -> np.ndarray:
    return betaln(k + 1, n - k + 1) - xlogy(k, share) - xlog1py(n - k, -share)
