"""Scored pairs of texts, and people's answers on some, from which groups are made."""

from dataclasses import dataclass, field, replace

import numpy as np

NEAR_LOGITS = 2.0  # of the log-odds, below the threshold, that a near miss has at least


def _none() -> np.ndarray:
    return np.empty((0, 2), dtype=np.int64)


@dataclass(frozen=True)
class Links:
    """Pairs of n texts with their probability p to match; a pair that is not listed has p = 0.

    left, right: (m,) int64, below n, each pair once; p: (m,) float64; yes, no: (k, 2) int64, pairs that people answered
    so, listed or not; second: (n,) bool, which texts are of the second of two lists, or None for one list.
    """

    n: int
    left: np.ndarray
    right: np.ndarray
    p: np.ndarray
    yes: np.ndarray = field(default_factory=_none)
    no: np.ndarray = field(default_factory=_none)
    second: np.ndarray | None = None

    def at_least(self, p: float) -> "Links":
        """Return the links of this probability or a higher one."""
        probable = self.p >= p
        return replace(self, left=self.left[probable], right=self.right[probable], p=self.p[probable])
