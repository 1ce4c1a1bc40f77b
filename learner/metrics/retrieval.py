"""What retrieval papers make of the ranks at which queries find their passages."""

import numpy as np


def recall_at(ranks: np.ndarray, k: int) -> float:
    """The share of queries whose passage is among the first k."""
    return float((ranks <= k).mean())


def mean_reciprocal_rank(ranks: np.ndarray) -> float:
    """The mean of 1 / rank."""
    return float((1 / ranks).mean())
