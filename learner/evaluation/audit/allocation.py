"""How many of the next audit pairs come from each stratum, and what more labels would gain."""

import numpy as np

FIRST = 15  # labels that every stratum gets before any gets more
MOST = 20_000  # beyond this many labels no number is reported


def importance(rates: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return how much each stratum's labels move average precision: (h,), the standard deviation of one label's effect.

    rates: (draws, h) shares of positives. The effect of a stratum is its size times the derivative of AP by its number
    of positives times √(rate·(1 − rate)), as a root mean square over the draws, which includes what is still uncertain.
    """
    positives = rates * sizes
    total = positives.sum(1, keepdims=True)
    middle = np.cumsum(sizes) - sizes / 2
    precision = np.minimum((np.cumsum(positives, 1) - positives / 2) / middle, 1.0)
    average = (positives * precision).sum(1, keepdims=True) / total
    below = np.cumsum((positives / middle)[:, ::-1], 1)[:, ::-1] - positives / middle / 2
    effect = sizes * np.abs(precision + below - average) / total * np.sqrt(rates * (1 - rates))
    return np.sqrt((effect**2).mean(0))


def allocate(labels: np.ndarray, available: np.ndarray, weight: np.ndarray, draw: int) -> np.ndarray:
    """Return how many of the next `draw` pairs come from each stratum, (h,) int64.

    labels: (h,) labelled so far; available: (h,) pairs that can still be drawn; weight: (h,) their importance. The draw
    is equal until each stratum has 15 labels; then every second pair goes where it gains most. Equal shares do as well
    as the best ones (docs/log.md), so they keep half of the pairs.
    """
    counts, left = labels.astype(np.float64), available.astype(np.int64).copy()
    drawn = np.zeros(len(labels), dtype=np.int64)
    for turn in range(min(draw, int(left.sum()))):
        open_ = left > 0
        fewest = np.where(open_, counts, np.inf)
        if turn % 2 == 0 or fewest.min() < FIRST:
            chosen = int(fewest.argmin())
        else:
            gain = weight**2 / np.maximum(counts * (counts + 1), 1.0)  # an empty stratum has no labels
            chosen = int(np.where(open_, gain, -1.0).argmax())
        drawn[chosen] += 1
        counts[chosen] += 1
        left[chosen] -= 1
    return drawn


def labels_to_halve(labels: np.ndarray, available: np.ndarray, weight: np.ndarray) -> int | None:
    """Return about how many more labels would halve the interval of AP, that is, quarter its variance Σ weight²/labels.

    None if even 20,000 would not.
    """
    goal = (weight**2 / labels).sum() / 4
    low, high = 0, MOST
    if _variance(labels, available, weight, high) > goal:
        return None
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        low, high = (low, middle) if _variance(labels, available, weight, middle) <= goal else (middle, high)
    return high


def _variance(labels: np.ndarray, available: np.ndarray, weight: np.ndarray, more: int) -> float:
    return float((weight**2 / (labels + allocate(labels, available, weight, more))).sum())
