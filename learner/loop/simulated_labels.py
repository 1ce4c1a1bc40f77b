"""The labels of a simulation, and their file: a row for each, with its round and the score it had then."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.search.exact import Pairs

COLUMNS = ("id1", "id2", "label", "round", "score")
Composition = list[tuple[int, int]]  # positives and negatives of each round


@dataclass
class Labels:
    """The labels collected so far, in the order of collection."""

    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    round: list[int] = field(default_factory=list)
    score: list[float] = field(default_factory=list)

    def add(self, dataset: Dataset, pairs: Pairs, number: int) -> None:
        """Label the round's pairs with gold; pairs that are not gold positives are negatives."""
        positives = dataset.keys(*dataset.positives.T)
        self.left += pairs.left.tolist()
        self.right += pairs.right.tolist()
        self.label += np.isin(dataset.keys(pairs.left, pairs.right), positives).astype(int).tolist()
        self.round += [number] * len(pairs)
        self.score += pairs.score.tolist()

    def keys(self, dataset: Dataset) -> np.ndarray:
        """Return one key for each labelled pair, (n,)."""
        labelled = self.arrays()
        return dataset.keys(labelled.left, labelled.right)

    def arrays(self) -> Labelled:
        return Labelled(*(np.array(column, dtype=np.int64) for column in (self.left, self.right, self.label)))

    def write(self, corpus: Corpus, path: Path) -> None:
        """Write them as CSV, by the first id of each text."""
        first_ids = ([corpus.items[row].ids[0] for row in rows] for rows in (self.left, self.right))
        scores = (f"{score:.6f}" for score in self.score)
        write_csv(path, COLUMNS, zip(*first_ids, self.label, self.round, scores, strict=True))


def composition_of(labels_csv: Path) -> Composition:
    """Return how many positives and negatives each round of a simulation collected, from its labels.csv.

    Raises InputError if the file is not one.
    """
    try:
        rows = [(int(number), int(label)) for _, (number, label) in read_rows(labels_csv, ("round", "label"))]
    except (InputError, ValueError) as error:
        problem = f"{labels_csv} does not list what each round collected ({error})"
        raise InputError(f"{problem}: give the labels.csv of a simulation by uncertainty") from error
    counts = Counter(rows)
    return [(counts[number, 1], counts[number, 0]) for number in range(1, max(counts, default=(0, 0))[0] + 1)]
