"""The rank at which a query finds its passage, and the figures that retrieval papers compute from ranks."""

import numpy as np


def recall_at(ranks: np.ndarray, k: int) -> float:
    """Return the share of queries whose passage is among the first k."""
    return float((ranks <= k).mean())


def mean_reciprocal_rank(ranks: np.ndarray) -> float:
    """Return the mean of 1 / rank."""
    return float((1 / ranks).mean())
