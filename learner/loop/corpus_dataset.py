"""A corpus of files as the learner sees it."""

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Kind, Stated
from allpairs.learner.data.dataset import Dataset, make_dataset
from allpairs.learner.data.fields import RecordTexts


def dataset_of(corpus: Corpus, columns: TextColumns | None = None) -> Dataset:
    """Return the corpus as rows: one for each item, in its order. Every item has a split.

    columns: what its text columns are, if not what the corpus says.
    """
    items = corpus.items
    columns = columns or corpus.columns
    texts = [item.text for item in items]
    sides = [item.side for item in items]
    records = None
    if columns and columns.kinds:
        records = RecordTexts(texts, [item.lengths for item in items], sides, columns)
    positives = [(pair.left, pair.right) for pair in corpus.gold if pair.positive]
    closed = corpus.stated == Stated.CLOSED
    known_pairs = [(pair.left, pair.right, pair.positive) for pair in corpus.gold if closed or not pair.closure]
    return make_dataset(
        texts,
        sides,
        [item.split or "" for item in items],
        corpus.kind == Kind.SYMMETRIC,
        np.array(positives, dtype=np.int64),
        known_pairs,
        records,
    )
