"""Labelled pairs in a file, as rows of a corpus: from a simulation, a label export or gold."""

from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import Ids, label_of, present_columns, with_noun
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.domain import Kind, Purpose, Side, Split
from allpairs.db.errors import InputError
from allpairs.learner.models.cosine_bert import Labelled

NEEDED = ("id1", "id2", "label")
OPTIONAL = ("purpose",)


def read_label_file(path: Path, corpus: Corpus, with_audit: bool = False) -> Labelled:
    """Read the labelled pairs of a file with the columns id1, id2 and label: each pair once, with its last label.

    Leaves out pairs without a label (unsure), pairs of one text with itself, and pairs drawn for measuring (an export's
    column `purpose`) unless with_audit. Raises InputError with row and column, and if no pair is left.
    """
    first = Ids(corpus.positions(Side.LEFT))
    second = first if corpus.kind == Kind.SYMMETRIC else Ids(corpus.positions(Side.RIGHT))
    columns = (*NEEDED, *present_columns(OPTIONAL, column_names(path), path.name))
    labels: dict[tuple[int, int], bool] = {}
    for number, values in read_rows(path, columns):
        first_id, second_id, label, *purpose = map(str.strip, values)
        pair = first.position(first_id, path, number, "id1"), second.position(second_id, path, number, "id2")
        positive = label_of(label, path, number)
        if positive is None or pair[0] == pair[1] or (purpose == [Purpose.AUDIT] and not with_audit):
            continue
        labels[(min(pair), max(pair)) if first is second else pair] = positive
    if not labels:
        use = "" if with_audit else " to train on"
        raise InputError(
            f"{path.name}: no pair has a label{use}: name a file of {'' if with_audit else 'training '}labels"
        )
    rows = np.array(list(labels), dtype=np.int64)
    return Labelled(rows[:, 0], rows[:, 1], np.array(list(labels.values()), dtype=np.int64))


def training_pairs(labelled: Labelled, corpus: Corpus, split: Corpus) -> Labelled:
    """Return the pairs of train items only.

    corpus: the labels name its rows; split: the same corpus with splits, perhaps with fewer items. Raises InputError if
    no pair is left.
    """
    trained = {
        (item.side, name) for item in split.items if item.split in (Split.TRAIN, Split.SHARED) for name in item.ids
    }
    allowed = np.array([(item.side, item.ids[0]) in trained for item in corpus.items])
    trained_pairs = allowed[labelled.left] & allowed[labelled.right]
    if not trained_pairs.any():
        problem = f"none of the {with_noun(len(labelled), 'labelled pair')} is a pair of two train items"
        raise InputError(f"{problem}: name the split that the labels were collected with")
    return labelled.take(trained_pairs)


def read_training(path: Path, corpus: Corpus, split: Corpus) -> Labelled:
    """Read the file's labelled pairs of train items, as rows of the corpus with splits, which may have fewer items.

    Raises InputError if no pair is left.
    """
    labelled = training_pairs(read_label_file(path, corpus), corpus, split)
    row = {(item.side, item.ids[0]): i for i, item in enumerate(split.items)}
    rows = np.array([row.get((item.side, item.ids[0]), -1) for item in corpus.items], dtype=np.int64)
    return Labelled(rows[labelled.left], rows[labelled.right], labelled.label)
