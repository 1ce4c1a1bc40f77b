"""A matcher measured over all pairs of files."""

from dataclasses import replace
from typing import Any

import numpy as np

from db.corpus.corpus import Corpus
from db.domain import InputError, Progress, Side, Split, no_progress
from learner.dataset import Dataset
from learner.matcher import Matcher
from learner.rounds import evaluate
from learner.simulate import dataset_of


def evaluate_corpus(matcher: Matcher, corpus: Corpus, progress: Progress = no_progress) -> dict[str, Any]:
    """The estimates by name, with `pairs`, `positives` and the curve. Raises InputError without a gold positive.

    A corpus without splits is measured whole.
    """
    dataset = dataset_of(_all_evaluation(corpus))
    if not len(dataset.evaluation_positives):
        raise InputError("the gold file names no positive pair of these items: there is nothing to measure")
    vectors = _encode(matcher, dataset, progress)
    measured = evaluate(dataset, vectors, progress)
    assert measured is not None
    return {
        **{name: estimate.as_dict() for name, estimate in measured.estimates.items()},
        "pairs": measured.pairs,
        "positives": measured.positives,
        "curve": measured.curve.thinned().as_dict(),
    }


def _all_evaluation(corpus: Corpus) -> Corpus:
    if any(item.split is not None for item in corpus.items):
        return corpus
    return replace(corpus, items=[replace(item, split=Split.EVALUATION) for item in corpus.items])


def _encode(matcher: Matcher, dataset: Dataset, progress: Progress) -> np.ndarray:
    """Vectors (len(texts), d); rows outside the evaluation items stay zero."""
    rows = np.union1d(dataset.evaluation_left, dataset.evaluation_right)
    vectors = np.zeros((len(dataset.texts), matcher.encoder.dimension), dtype=np.float32)
    vectors[rows] = matcher.encoder.encode([dataset.texts[row] for row in rows], progress)
    return vectors


def sides_of(corpus: Corpus) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the left and of the right items (the same rows in a symmetric corpus)."""
    left = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.LEFT], dtype=np.int64)
    right = np.array([row for row, item in enumerate(corpus.items) if item.side == Side.RIGHT], dtype=np.int64)
    return left, right if len(right) else left
