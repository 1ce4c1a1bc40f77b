"""How right groups are: precision and recall over all pairs of rows."""

import numpy as np


def pair_counts(group: np.ndarray, truth: np.ndarray) -> tuple[int, int, int]:
    """Return how many pairs of rows share a group, how many are one thing, and how many are both; (n,) int64 each."""
    together = np.unique(np.column_stack([group, truth]), axis=0, return_counts=True)[1]
    return (
        _pairs(np.unique(group, return_counts=True)[1]),
        _pairs(np.unique(truth, return_counts=True)[1]),
        _pairs(together),
    )


def pair_figures(group: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return precision (1 without pairs), recall and F1 of the pairs within groups, to four decimals."""
    grouped, true, right = pair_counts(group, truth)
    precision = right / grouped if grouped else 1.0
    recall = right / true
    f1 = 2 * right / (grouped + true)
    return {"precision": round(precision, 4), "recall": round(recall, 4), "f1": round(f1, 4)}


def _pairs(sizes: np.ndarray) -> int:
    return int((sizes * (sizes - 1) // 2).sum())
