"""The value of a coefficient of agreement, and its interval by bootstrap over units."""

from collections.abc import Callable

import numpy as np

from annotate.agreement.coefficients import Coefficient, Disagreement, cohen_disagreement, sums_of
from annotate.reliability import wilson
from db.domain import Estimate

METHOD = "bootstrap over units"
RESAMPLES = 2_000
LEAST = 1e-12  # an expected disagreement below this is a rounding error of none
_Measured = Callable[[np.ndarray], Disagreement]  # of units of which each is there so often


def value(coefficient: Coefficient, counts: np.ndarray, times: np.ndarray | None = None) -> float | None:
    """The coefficient; nothing where it is not defined.

    counts: (units, categories) ints, how many raters gave each unit each category. Units with fewer than two ratings
    are left out. times: (units,) ints, how many units there are of each row, where rows that are alike are given once.
    """
    return _value(*_patterns(coefficient, counts, times)[:2])


def estimate(
    coefficient: Coefficient, counts: np.ndarray, times: np.ndarray | None = None, *, rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Estimate | None:  # fmt: skip
    """The coefficient with its 95 % interval, and how many ratings it rests on; nothing where it is not defined.

    The interval is the percentiles' of a bootstrap over units: it says what other units would give, rated by these
    raters. Where all agree no resample says anything else: its lower end then comes of Wilson's interval for the share
    of units on which all agree. Resamples in which the coefficient is not defined are left out. counts, times: as in
    `value`.
    """
    return _estimate(*_patterns(coefficient, counts, times), rng, resamples)


def cohen_kappa(table: np.ndarray) -> float | None:
    """Cohen's kappa of two raters; nothing where it is not defined.

    table: (categories, categories) ints, the units by the first rater's category and the second one's.
    """
    return _value(*_cells(table)[:2])


def cohen_estimate(table: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES) -> Estimate | None:
    """Cohen's kappa of two raters with its 95 % interval, as `estimate` has it; nothing where it is not defined."""
    return _estimate(*_cells(table), rng, resamples)


def _patterns(
    coefficient: Coefficient, counts: np.ndarray, times: np.ndarray | None
) -> tuple[_Measured, np.ndarray, int]:
    """The coefficient of units that are alike, how often each of them is there, and the number of ratings.

    Raises ValueError for what is no table of counts.
    """
    counts = np.asarray(counts)
    if counts.ndim != 2 or counts.shape[1] < 2 or (counts < 0).any():
        raise ValueError(f"counts of shape {counts.shape}: (units, categories) with two categories or more is needed")
    rated = counts.sum(axis=1) > 1
    if times is None:
        kinds, often = np.unique(counts[rated], axis=0, return_counts=True)
    else:
        kinds, often = counts[rated], np.asarray(times)[rated]
    return lambda drawn: coefficient(sums_of(kinds, drawn)), often, int(often @ kinds.sum(axis=1))


def _cells(table: np.ndarray) -> tuple[_Measured, np.ndarray, int]:
    """As `_patterns`; the units of a cell are alike."""
    table = np.asarray(table)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or (table < 0).any():
        raise ValueError(f"a table of shape {table.shape}: (categories, categories) is needed")
    size = table.shape

    def measured(drawn: np.ndarray) -> Disagreement:
        return cohen_disagreement(drawn.reshape(*drawn.shape[:-1], *size))

    return measured, table.ravel(), 2 * int(table.sum())


def _value(measured: _Measured, times: np.ndarray) -> float | None:
    if not times.sum():
        return None
    found = measured(times)
    return None if found.expected < LEAST else float(1 - found.observed / found.expected)


def _estimate(
    measured: _Measured, times: np.ndarray, ratings: int, rng: np.random.Generator, resamples: int
) -> Estimate | None:
    point = _value(measured, times)
    if point is None:
        return None
    here = measured(times)
    if here.observed < LEAST:
        missed = 1 - wilson(float(here.units), float(here.units))[0]
        return Estimate(1.0, max(-1.0, float(1 - missed / here.expected)), 1.0, METHOD, ratings)
    units = int(times.sum())
    drawn = measured(rng.multinomial(units, times / units, size=resamples))
    defined = drawn.expected > LEAST
    values = 1 - drawn.observed[defined] / drawn.expected[defined]
    low, high = np.quantile(values, (0.025, 0.975)) if values.size else (point, point)
    return Estimate(point, float(min(low, point)), float(max(high, point)), METHOD, ratings)
