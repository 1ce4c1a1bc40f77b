"""How many of the next audit pairs come from each stratum, and what more labels would gain."""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.evaluation.audit.stratum_rates import first_strata

FIRST = 15  # labels that every stratum gets before any gets more
MOST = 20_000  # beyond this many labels no number is reported
LEAST = 1e-15  # variance of a label where all of a stratum is known; positives where there are none


@dataclass(frozen=True)
class Gain:
    """What labels of each stratum say about average precision, (h,) each: its best linear estimate from them.

    covariance: of AP with the stratum's share of positives; noise: the variance of a label where the share is known;
    spread: the variance of the share. A label of a stratum whose share hardly any label can change, such as a deep
    one's, gains nothing.
    """

    covariance: np.ndarray
    noise: np.ndarray
    spread: np.ndarray

    def of(self, labels: np.ndarray) -> np.ndarray:
        """Return by how much so many more labels (h,) of each stratum lower the variance of AP, (h,)."""
        return self.covariance**2 * labels / (self.noise + labels * self.spread)

    def next(self, labels: np.ndarray) -> np.ndarray:
        """Return by how much one label more than so many (h,) lowers it, (h,)."""
        return self.of(labels + 1) - self.of(labels)


def gain_of(
    rates: np.ndarray, sizes: np.ndarray, band: np.ndarray | None = None, known: np.ndarray | None = None
) -> Gain:
    """Return the gain of labels, from draws (draws, h) of the strata's shares of positives; others: as in `Sample`."""
    average = banded_average_precision(rates, sizes, band, known)
    deviation = rates - rates.mean(0)
    noise = (rates * (1 - rates)).mean(0) + LEAST
    return Gain((average - average.mean()) @ deviation / len(rates), noise, rates.var(0))


def banded_average_precision(
    rates: np.ndarray, sizes: np.ndarray, band: np.ndarray | None = None, known: np.ndarray | None = None
) -> np.ndarray:
    """Return AP (draws,) of bands with evenly spread positives: the precision in each band's middle."""
    first = first_strata(sizes, band)
    known_positives = np.zeros(len(sizes)) if known is None else known
    positives = np.add.reduceat(rates * sizes + known_positives, first, axis=1)
    sizes = np.add.reduceat(sizes + known_positives, first)
    precision = np.minimum((np.cumsum(positives, 1) - positives / 2) / (np.cumsum(sizes) - sizes / 2), 1.0)
    return np.asarray((positives * precision).sum(1) / np.maximum(positives.sum(1), LEAST))


def allocate(labels: np.ndarray, available: np.ndarray, gain: Gain | None, draw: int) -> np.ndarray:
    """Return how many of the next `draw` pairs come from each stratum, (h,) int64.

    labels: (h,) labelled so far; available: (h,) pairs that can still be drawn; gain: of their labels; None: not known
    yet. The draw is equal until each stratum has 15 labels; then every second pair goes where it gains most.
    """
    counts = labels.astype(np.float64)
    left = available.astype(np.int64).copy()
    drawn = np.zeros(len(labels), dtype=np.int64)
    for turn in range(min(draw, int(left.sum()))):
        open_ = left > 0
        fewest = np.where(open_, counts, np.inf)
        if gain is None or turn % 2 == 0 or fewest.min() < FIRST:
            chosen = int(fewest.argmin())
        else:
            chosen = int(np.where(open_, gain.next(drawn), -1.0).argmax())
        drawn[chosen] += 1
        counts[chosen] += 1
        left[chosen] -= 1
    return drawn


def labels_to_halve(labels: np.ndarray, available: np.ndarray, gain: Gain, variance: float) -> int | None:
    """Return about how many more labels would halve the interval of AP, that is, quarter its variance.

    None if even 20,000 would not.
    """
    goal = variance * 3 / 4
    low = 0
    high = MOST

    def reaches(more: int) -> bool:
        return float(gain.of(allocate(labels, available, gain, more)).sum()) >= goal

    if not reaches(high):
        return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high
