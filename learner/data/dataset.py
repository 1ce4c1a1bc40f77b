"""The texts of a project as the learner sees them: rows, and which rows make training and evaluation pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from db.domain import Side, Split
from learner.data.lexical_features import Lexicon, lexicon_of


@dataclass(frozen=True)
class Dataset:
    """Texts by row, the rows of each side and split (ascending int64), and the gold positives.

    In a symmetric dataset left and right rows are the same. positives: (k, 2) rows, left before right. stated: (k, 3)
    rows and label, 1 or 0, of the pairs that gold itself states: positives that follow by closure are not among them.
    """

    texts: Sequence[str]
    symmetric: bool
    train_left: np.ndarray
    train_right: np.ndarray
    evaluation_left: np.ndarray
    evaluation_right: np.ndarray
    positives: np.ndarray
    stated: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))

    @property
    def evaluation_positives(self) -> np.ndarray:
        """(k, 2) positions in `evaluation_left` and `evaluation_right` of the positives among evaluation pairs."""
        left, right = self.positives.T
        inside = np.isin(left, self.evaluation_left) & np.isin(right, self.evaluation_right)
        return np.column_stack(
            [
                np.searchsorted(self.evaluation_left, left[inside]),
                np.searchsorted(self.evaluation_right, right[inside]),
            ]
        )

    @property
    def evaluation_stated(self) -> np.ndarray:
        """(k, 3) rows of the dataset and label of the stated pairs of evaluation items."""
        left, right, _ = self.stated.T
        return self.stated[np.isin(left, self.evaluation_left) & np.isin(right, self.evaluation_right)]

    @cached_property
    def lexicon(self) -> Lexicon:
        """How the texts are spelled; made when it is first asked for."""
        return lexicon_of(self.texts)

    def keys(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """One int64 for each pair of rows, equal for equal pairs."""
        return left * len(self.texts) + right


def make_dataset(
    texts: Sequence[str],
    sides: Sequence[str],
    splits: Sequence[str],
    symmetric: bool,
    positives: np.ndarray,
    stated: np.ndarray | Sequence[tuple[int, int, bool]] = (),
) -> Dataset:
    """The dataset of texts with a side and a split each; positives: (k, 2) rows; stated: (k, 3) rows and label."""
    side, split = np.array(sides, dtype=object), np.array(splits, dtype=object)

    def rows(which: Side, wanted: Split) -> np.ndarray:
        return np.nonzero((side == which) & ((split == wanted) | (split == Split.BOTH)))[0]

    right = Side.LEFT if symmetric else Side.RIGHT
    return Dataset(
        texts,
        symmetric,
        rows(Side.LEFT, Split.TRAIN),
        rows(right, Split.TRAIN),
        rows(Side.LEFT, Split.EVALUATION),
        rows(right, Split.EVALUATION),
        positives.reshape(-1, 2).astype(np.int64),
        np.array(stated, dtype=np.int64).reshape(-1, 3),
    )
