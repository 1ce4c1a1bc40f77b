"""Coefficients of agreement between raters: 1 less the ratio of observed to expected disagreement.

They take sums over units, for many resamples at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sums:
    """Sums over units, each of shape (...) or, by category, (..., categories).

    A unit rated by n raters, n_k of them as category k, adds 1 to `units`; to `agreeing` the share of its ordered
    pairs of raters that agree, Σ n_k(n_k - 1) / n(n - 1); n_k / n to `shares`; n_k to `ratings`; and
    n_k(n_k - 1) / (n - 1) to `paired`.
    """

    units: np.ndarray
    agreeing: np.ndarray
    shares: np.ndarray
    ratings: np.ndarray
    paired: np.ndarray


@dataclass(frozen=True)
class Disagreement:
    """What a coefficient compares, each of shape (...): observed and expected disagreement.

    Where the expected disagreement is 0, the coefficient is not defined.
    """

    observed: np.ndarray
    expected: np.ndarray


Coefficient = Callable[[Sums], Disagreement]


def sums_of(counts: np.ndarray, times: np.ndarray) -> Sums:
    """Return the sums over units, where the i-th unit occurs times[..., i] times.

    counts: (units, categories), times: (..., units). Every unit has two ratings or more.
    """
    ratings = counts.sum(axis=1, keepdims=True)
    paired = counts * (counts - 1) / (ratings - 1)
    return Sums(
        units=times.sum(axis=-1),
        agreeing=times @ (paired / ratings).sum(axis=1),
        shares=times @ (counts / ratings),
        ratings=times @ counts,
        paired=times @ paired,
    )


def observed_agreement(sums: Sums) -> Disagreement:
    """Return the share of agreeing pairs of raters, averaged over units (Fleiss 1971, P̄), not chance-corrected."""
    observed = 1 - sums.agreeing / sums.units
    return Disagreement(observed, np.ones_like(observed))


def specific_agreement(category: int) -> Coefficient:
    """Return the agreement on one category: the probability that another rater gives it where one rater did.

    For two raters and two categories it is the positive or negative agreement of Cicchetti and Feinstein (1990), 2a /
    (2a + b + c); for more raters that of de Vet, Dikmans and Eekhout (2017). Not defined where nobody gave it.
    """

    def specific(sums: Sums) -> Disagreement:
        ratings = sums.ratings[..., category]
        observed = 1 - sums.paired[..., category] / np.where(ratings > 0, ratings, 1)
        return Disagreement(observed, (ratings > 0).astype(float))

    return specific


def gwet_ac1(sums: Sums) -> Disagreement:
    """Return Gwet's AC1 (2008). Only hard units are rated by chance, so a rare category does not inflate it.

    It is defined, and 1, where all ratings are the same.
    """
    shares = sums.shares / sums.units[..., None]
    chance = (shares * (1 - shares)).sum(axis=-1) / (shares.shape[-1] - 1)
    return Disagreement(1 - sums.agreeing / sums.units, 1 - chance)


def fleiss_kappa(sums: Sums) -> Disagreement:
    """Return Fleiss' kappa (1971), generalized to unequal numbers of ratings (Gwet 2014).

    Not defined where all ratings are the same.
    """
    shares = sums.shares / sums.units[..., None]
    return Disagreement(1 - sums.agreeing / sums.units, 1 - (shares**2).sum(axis=-1))


def krippendorff_alpha(sums: Sums) -> Disagreement:
    """Return Krippendorff's alpha for nominal categories (2011): like kappa, with equal weight for each rating.

    Not defined where all ratings are the same.
    """
    ratings = sums.ratings.sum(axis=-1)
    same = (sums.ratings * (sums.ratings - 1)).sum(axis=-1)
    return Disagreement(1 - sums.paired.sum(axis=-1) / ratings, 1 - same / (ratings * (ratings - 1)))


def cohen_disagreement(table: np.ndarray) -> Disagreement:
    """Return Cohen's kappa (1960). Not defined where both raters gave a single category throughout.

    table: (..., categories, categories), the units by the first rater's category and the other's.
    """
    units = table.sum(axis=(-2, -1))
    agreeing = np.trace(table, axis1=-2, axis2=-1) / units
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / units**2
    return Disagreement(1 - agreeing, 1 - chance)
