"""Coefficients of agreement between raters. Each is one less the disagreement there is over that to be expected.

They read sums over units, and many sums at once: those of a sample, and those of its resamples.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Sums:
    """Sums over units, each of shape (...) or, by category, (..., categories).

    A unit that n raters rated, n_k of them as category k, adds to `units` 1, to `agreeing` the share of its
    ordered pairs of raters that agree, Σ n_k(n_k - 1) / n(n - 1), to `shares` n_k / n, to `ratings` n_k, and to
    `paired` n_k(n_k - 1) / (n - 1).
    """

    units: np.ndarray
    agreeing: np.ndarray
    shares: np.ndarray
    ratings: np.ndarray
    paired: np.ndarray


@dataclass(frozen=True)
class Disagreement:
    """What a coefficient compares, each of shape (...): the disagreement there is, and that to be expected.

    Where none is to be expected, the coefficient is not defined.
    """

    observed: np.ndarray
    expected: np.ndarray


Coefficient = Callable[[Sums], Disagreement]


def sums_of(counts: np.ndarray, times: np.ndarray) -> Sums:
    """The sums of units of which the i-th is there times[..., i] times.

    counts: (units, categories), times: (..., units). Every unit has two ratings or more.
    """
    given = counts.sum(axis=1, keepdims=True)
    paired = counts * (counts - 1) / (given - 1)
    return Sums(
        units=times.sum(axis=-1),
        agreeing=times @ (paired / given).sum(axis=1),
        shares=times @ (counts / given),
        ratings=times @ counts,
        paired=times @ paired,
    )


def observed_agreement(sums: Sums) -> Disagreement:
    """The share of pairs of raters who agree, averaged over units (Fleiss 1971, P̄). Nothing is taken off for chance."""
    observed = 1 - sums.agreeing / sums.units
    return Disagreement(observed, np.ones_like(observed))


def specific_agreement(category: int) -> Coefficient:
    """The agreement on one category: where one rater gave it, the chance that another rater of the unit did too.

    For two raters and two categories it is the positive or negative agreement of Cicchetti and Feinstein (1990), 2a /
    (2a + b + c); for more raters that of de Vet, Dikmans and Eekhout (2017). Not defined where nobody gave it.
    """

    def specific(sums: Sums) -> Disagreement:
        ratings = sums.ratings[..., category]
        observed = 1 - sums.paired[..., category] / np.where(ratings > 0, ratings, 1)
        return Disagreement(observed, (ratings > 0).astype(float))

    return specific


def gwet_ac1(sums: Sums) -> Disagreement:
    """Gwet's AC1 (2008): chance is that of raters who guess on hard units only, so a rare category does not inflate it.

    It is defined, and 1, where all ratings are the same.
    """
    shares = sums.shares / sums.units[..., None]
    chance = (shares * (1 - shares)).sum(axis=-1) / (shares.shape[-1] - 1)
    return Disagreement(1 - sums.agreeing / sums.units, 1 - chance)


def fleiss_kappa(sums: Sums) -> Disagreement:
    """Fleiss' kappa (1971), for units with unequal numbers of ratings as Gwet (2014) has it.

    Not defined where all ratings are the same.
    """
    shares = sums.shares / sums.units[..., None]
    return Disagreement(1 - sums.agreeing / sums.units, 1 - (shares**2).sum(axis=-1))


def krippendorff_alpha(sums: Sums) -> Disagreement:
    """Krippendorff's alpha for nominal categories (2011): kappa's idea with each rating weighing the same.

    Not defined where all ratings are the same.
    """
    ratings = sums.ratings.sum(axis=-1)
    same = (sums.ratings * (sums.ratings - 1)).sum(axis=-1)
    return Disagreement(1 - sums.paired.sum(axis=-1) / ratings, 1 - same / (ratings * (ratings - 1)))


def cohen_disagreement(table: np.ndarray) -> Disagreement:
    """Cohen's kappa (1960). Not defined where both raters gave one and the same category throughout.

    table: (..., categories, categories), the units by the first rater's category and the other's.
    """
    units = table.sum(axis=(-2, -1))
    agreeing = np.trace(table, axis1=-2, axis2=-1) / units
    chance = (table.sum(axis=-1) * table.sum(axis=-2)).sum(axis=-1) / units**2
    return Disagreement(1 - agreeing, 1 - chance)
