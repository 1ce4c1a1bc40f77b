"""The texts of a project as the learner sees them: rows, and which rows make training and evaluation pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side, Split
from allpairs.db.identity import identity
from allpairs.learner.data.corpus_terms import CorpusTerms, terms_of
from allpairs.learner.data.fields import Field, RecordTexts
from allpairs.learner.data.lexical_features import Lexicon, lexicon_by


@dataclass(frozen=True)
class Dataset:
    """Texts by row, the rows of each side and split (ascending int64), and the gold positives.

    In a symmetric dataset left and right rows are the same. positives: (k, 2) rows, left before right. known_pairs:
    (k, 3) rows and label, 1 or 0, with or without the positives that closure implies. records: the texts
    with their columns, if they have several and it is known what these are; `texts` are then what the models read.
    gone_left, gone_right: rows of texts that have been withdrawn. They keep their row, and no side has them.
    """

    texts: Sequence[str]
    symmetric: bool
    train_left: np.ndarray
    train_right: np.ndarray
    evaluation_left: np.ndarray
    evaluation_right: np.ndarray
    positives: np.ndarray
    known_pairs: np.ndarray = field(default_factory=lambda: np.empty((0, 3), dtype=np.int64))
    records: RecordTexts | None = None
    gone_left: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    gone_right: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def evaluation_positives(self) -> np.ndarray:
        """The positives among evaluation pairs: (k, 2) positions in `evaluation_left` and `evaluation_right`."""
        left, right = self.positives.T
        inside = np.isin(left, self.evaluation_left) & np.isin(right, self.evaluation_right)
        return np.column_stack(
            [
                np.searchsorted(self.evaluation_left, left[inside]),
                np.searchsorted(self.evaluation_right, right[inside]),
            ]
        )

    @property
    def evaluation_known(self) -> np.ndarray:
        """The positives and given negatives among evaluation pairs, each once: (k, 2) as `evaluation_positives`."""
        left, right, label = self.evaluation_given.T
        positions = np.searchsorted(self.evaluation_left, left), np.searchsorted(self.evaluation_right, right)
        return np.unique(np.concatenate([self.evaluation_positives, np.column_stack(positions)[label == 0]]), axis=0)

    @property
    def evaluation_given(self) -> np.ndarray:
        """The known pairs of evaluation items: (k, 3) rows of the dataset and label."""
        left, right, _ = self.known_pairs.T
        return self.known_pairs[np.isin(left, self.evaluation_left) & np.isin(right, self.evaluation_right)]

    @property
    def whole_texts(self) -> Sequence[str]:
        """The texts as people see them."""
        return self.records.texts if self.records else self.texts

    @property
    def columns(self) -> TextColumns | None:
        """The text columns and how they are written, where it is known what they are."""
        return self.records.columns_read if self.records else None

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The columns that are compared, taken apart on first use."""
        return self.records.fields() if self.records else ()

    @property
    def kinds(self) -> dict[str, FieldKind]:
        """The kind of each column that is compared."""
        return {column.name: column.kind for column in self.fields}

    @cached_property
    def terms(self) -> CorpusTerms:
        """The terms of the texts, computed on first use."""
        return terms_of(self.texts)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The lexical features of the texts, computed on first use."""
        return lexicon_by(self.terms, self.texts)

    @property
    def left(self) -> np.ndarray:
        """The rows of the left list that have a split, ascending int64; those of the only list if symmetric."""
        return np.union1d(self.train_left, self.evaluation_left)

    @property
    def right(self) -> np.ndarray:
        """The rows of the right list that have a split, ascending int64; those of the only list if symmetric."""
        return np.union1d(self.train_right, self.evaluation_right)

    @property
    def equal_pairs(self) -> np.ndarray:
        """The pairs of a left and a right text that are equal, (k, 2) rows, not empty; of one list there are none."""
        second = {} if self.symmetric else {identity(self.whole_texts[row]): row for row in self.right.tolist()}
        keys = ((row, identity(self.whole_texts[row])) for row in self.left.tolist() if second)
        pairs = [(row, second[key]) for row, key in keys if key and key in second]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)

    def without(self, rows: np.ndarray) -> "Dataset":
        """Return the dataset with these rows withdrawn: they are in no pair any more."""
        return replace(
            self,
            train_left=np.setdiff1d(self.train_left, rows),
            train_right=np.setdiff1d(self.train_right, rows),
            evaluation_left=np.setdiff1d(self.evaluation_left, rows),
            evaluation_right=np.setdiff1d(self.evaluation_right, rows),
            gone_left=np.intersect1d(self.left, rows),
            gone_right=np.empty(0, dtype=np.int64) if self.symmetric else np.intersect1d(self.right, rows),
        )

    def keys(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return one int64 for each pair of rows, equal for equal pairs."""
        return left * len(self.texts) + right


def make_dataset(
    texts: Sequence[str],
    sides: Sequence[str],
    splits: Sequence[str],
    symmetric: bool,
    positives: np.ndarray,
    known_pairs: np.ndarray | Sequence[tuple[int, int, bool]] = (),
    records: RecordTexts | None = None,
) -> Dataset:
    """Make the dataset of texts with a side and a split each; positives: (k, 2) rows; known_pairs: (k, 3) rows, label.

    records: the same texts with their columns.
    """
    side = np.array(sides, dtype=object)
    split = np.array(splits, dtype=object)

    def rows(list_side: Side, split_name: Split) -> np.ndarray:
        return np.nonzero((side == list_side) & ((split == split_name) | (split == Split.SHARED)))[0]

    right = Side.LEFT if symmetric else Side.RIGHT
    return Dataset(
        records.read() if records else texts,
        symmetric,
        rows(Side.LEFT, Split.TRAIN),
        rows(right, Split.TRAIN),
        rows(Side.LEFT, Split.EVALUATION),
        rows(right, Split.EVALUATION),
        positives.reshape(-1, 2).astype(np.int64),
        np.array(known_pairs, dtype=np.int64).reshape(-1, 3),
        records,
    )
