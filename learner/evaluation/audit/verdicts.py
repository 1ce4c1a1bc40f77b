"""A machine rater's verdicts on an audit's pairs: it reads many of each stratum; people label some of each verdict.

Verdicts are never truth. The labels of the same pairs tell how often the rater is right; its verdicts tell of a
stratum's positives as much as that allows.
"""

from dataclasses import dataclass

import numpy as np

NO, YES, UNREAD = range(3)  # of a labelled pair; an abstention counts as no
VERDICTS = 3


@dataclass(frozen=True)
class Verdicts:
    """The verdicts.

    verdict: (n,) int64 of each labelled pair, NO, YES or UNREAD; read: (h,) int64, pairs of each stratum that it has
    read, drawn from all of it whatever they are, the labelled ones among them; called: (h,) int64, those of them that
    it calls positive.
    """

    verdict: np.ndarray
    read: np.ndarray
    called: np.ndarray

    def cells(self, stratum: np.ndarray) -> np.ndarray:
        """Return the cell, stratum by verdict, of each labelled pair (n,) int64; stratum: (n,) of each."""
        return VERDICTS * stratum + self.verdict

    def labelled(self, stratum: np.ndarray) -> np.ndarray:
        """Return the labelled pairs of each stratum by verdict, (h, 2); one without a verdict counts as a no."""
        cells = 2 * stratum + (self.verdict == YES)
        return np.bincount(cells, minlength=2 * len(self.read)).reshape(-1, 2)

    def count(self, stratum: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the effective labels (h, 3) of each cell (Kish 1965), and the positives among them."""
        cells = self.cells(stratum)
        n = VERDICTS * len(self.read)
        total, squares, positive_weight = (
            np.bincount(cells, values, n) for values in (weight, weight**2, weight * positive)
        )
        labels = total**2 / np.maximum(squares, 1e-300)
        positives = labels * positive_weight / np.maximum(total, 1e-300)
        return labels.reshape(-1, VERDICTS), positives.reshape(-1, VERDICTS)


@dataclass(frozen=True)
class Shares:
    """Draws (draws, h) of each stratum's share of positives, and of what the rater calls positive of both kinds."""

    positive: np.ndarray
    sensitivity: np.ndarray
    false: np.ndarray

    @property
    def called(self) -> np.ndarray:
        """The shares of pairs that the rater calls positive."""
        return self.positive * self.sensitivity + (1 - self.positive) * self.false

    def by_cell(self, read: np.ndarray) -> np.ndarray:
        """Return the shares of positives (draws, 2h) by stratum and verdict: no, yes, no, yes …

        read: (h,) pairs that the rater has read; of a stratum without any both shares are the stratum's.
        """
        pairs = [np.where(read > 0, share, self.positive) for share in self.among()]
        return np.stack(pairs, axis=-1).reshape(len(self.positive), -1)

    def among(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the shares of positives among the pairs that the rater does not call positive, and among those."""
        inside = self.positive * self.sensitivity
        outside = self.positive * (1 - self.sensitivity)
        called = inside + (1 - self.positive) * self.false
        uncalled = outside + (1 - self.positive) * (1 - self.false)
        return outside / np.maximum(uncalled, 1e-300), inside / np.maximum(called, 1e-300)


def cell_sizes(sizes: np.ndarray, read: np.ndarray, called: np.ndarray) -> np.ndarray:
    """Return about how many pairs each stratum has by verdict, (2h,): no, yes, no, yes …; arguments (h,)."""
    share = (called + 0.5) / (read + 1)
    return np.column_stack([sizes * (1 - share), sizes * share]).ravel()
