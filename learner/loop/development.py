"""A development set measured beside the evaluation set, with the vectors that a round has made already."""

from typing import Any

import numpy as np

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.sampling_designs import Population, near_negatives
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import evaluate_dataset
from allpairs.learner.scoring.matcher import PairModel

NEAR = "near_negatives"


class DevelopmentSet:
    """The evaluation items of another split of the same texts; dataset: the one that is measured anyway.

    Raises InputError if the split's evaluation items have no gold positive.
    """

    def __init__(self, corpus: Corpus, dataset: Dataset) -> None:
        self.dataset = dataset_of(corpus)
        if not len(self.dataset.evaluation_positives):
            raise InputError("no gold positive is among the items of the development set: check its split")
        known = {text: row for row, text in enumerate(dataset.texts)}
        self.row = np.array([known.get(text, -1) for text in self.dataset.texts], dtype=np.int64)

    def measure(self, matcher: PairModel, encoded: np.ndarray, progress: Progress = no_progress) -> dict[str, Any]:
        """Return the figures of a matcher by name; encoded: (texts, d) of the other dataset, by its encoder."""
        new = np.flatnonzero(self.row < 0)
        own_encoded = encoded[self.row]
        own_encoded[new] = matcher.encoder.encode([self.dataset.texts[row] for row in new.tolist()], progress)
        vectors = matcher.vectors(self.dataset, own_encoded, progress)
        rescored = matcher.rescored(self.dataset, vectors, progress)
        measured = evaluate_dataset(self.dataset, vectors, progress, matcher.layer, matcher.space, rescored=rescored)
        assert measured is not None  # there is a positive
        figures = {name: estimate.as_dict() for name, estimate in measured.estimates.items()}
        counts = {"pairs": measured.pairs, "evaluation_positives": measured.positives}
        return {**figures, **counts, **({} if matcher.layer else near_by(self.dataset, own_encoded, progress))}


def near_by(dataset: Dataset, encoded: np.ndarray, progress: Progress = no_progress) -> dict[str, int]:
    """Return how many evaluation negatives are near ones; encoded: (texts, d) by the pre-trained encoder."""
    left = encoded[dataset.evaluation_left]
    right = left if dataset.symmetric else encoded[dataset.evaluation_right]
    population = Population(left, right, dataset.evaluation_positives, dataset.symmetric)
    return {NEAR: len(near_negatives(population, np.random.default_rng(0), progress))}
