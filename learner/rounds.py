"""One round: the same few functions serve the browser's rounds and the simulator's."""

from dataclasses import dataclass, replace

import numpy as np

from db.domain import SEED_STRATEGY, Progress, Settings, no_progress
from learner.acquisition import Pool, most_similar, strategy
from learner.dataset import Dataset
from learner.evaluation import AllPairs, evaluate_exact
from learner.faiss_search import nearest_by_faiss
from learner.heuristics import stated_figures
from learner.output_layer import OutputLayer
from learner.scorer import VectorScorer
from learner.search import Pairs, count_pairs, nearest, pairs_numbered


@dataclass(frozen=True)
class Batch:
    """Pairs to label, the first the most wanted: rows of the dataset, and the strategy that chose them."""

    pairs: Pairs
    strategy: str


def choose(
    dataset: Dataset,
    vectors: np.ndarray,
    layer: OutputLayer | None,
    known: np.ndarray,
    n: int,
    settings: Settings,
    rng: np.random.Generator,
    progress: Progress = no_progress,
) -> Batch:
    """At most n unlabelled training pairs, each unordered pair once.

    vectors: (len(texts), d) under the model that chooses; layer: its output layer, or None where there is no trained
    one yet: then the most similar pairs are chosen (paper 004, section 4.2); known: keys of the labelled pairs.
    """
    left, right = dataset.train_left, dataset.train_right
    if not len(left) or not len(right):
        empty = np.empty(0, dtype=np.int64)
        return Batch(Pairs(empty, empty, np.empty(0, dtype=np.float32)), SEED_STRATEGY)
    found = _neighbours(vectors[left], vectors[right], settings, dataset.symmetric, progress)
    candidates = Pairs(left[found.left], right[found.right], found.score)
    candidates = candidates.take(~np.isin(dataset.keys(candidates.left, candidates.right), known))
    if layer is None or layer.threshold is None:  # no score is more uncertain than another
        return Batch(most_similar(candidates, n), SEED_STRATEGY)

    def draw(count: int, rng: np.random.Generator) -> Pairs:
        return draw_pairs(dataset, vectors, known, count, rng)

    chosen = strategy(settings.strategy)(Pool(candidates, layer, draw), n, rng)
    return Batch(chosen, settings.strategy)


def _neighbours(left: np.ndarray, right: np.ndarray, settings: Settings, symmetric: bool, progress: Progress) -> Pairs:
    if settings.search == "exact":
        return nearest(left, right, settings.neighbours, symmetric, progress=progress)
    return nearest_by_faiss(left, right, settings.neighbours, symmetric, settings.search, progress)


def draw_pairs(dataset: Dataset, vectors: np.ndarray, known: np.ndarray, n: int, rng: np.random.Generator) -> Pairs:
    """n distinct training pairs drawn uniformly from those whose key is not known (fewer where fewer exist)."""
    rows, columns = dataset.train_left, dataset.train_right
    total = count_pairs(len(rows), len(columns), dataset.symmetric)
    # Among n + |known| distinct pairs at least n are not known.
    numbers = rng.choice(total, size=min(total, n + len(known)), replace=False)
    at_left, at_right = pairs_numbered(numbers, len(rows), len(columns), dataset.symmetric)
    left, right = rows[at_left], columns[at_right]
    unknown = ~np.isin(dataset.keys(left, right), known)
    left, right = left[unknown][:n], right[unknown][:n]
    return Pairs(left, right, np.einsum("nd,nd->n", vectors[left], vectors[right]).astype(np.float32))


def evaluate(
    dataset: Dataset, vectors: np.ndarray, progress: Progress = no_progress, layer: OutputLayer | None = None
) -> AllPairs | None:
    """Exact figures over all evaluation pairs, or None where there is no gold positive among them.

    With an output layer also the figures at its threshold; with stated negatives also those of the stated pairs.
    """
    left, right = vectors[dataset.evaluation_left], vectors[dataset.evaluation_right]
    positives = dataset.evaluation_positives
    measured = evaluate_exact(left, right, positives, dataset.symmetric, progress=progress, layer=layer)
    if measured is None:
        return None
    stated = stated_figures(dataset, VectorScorer(vectors, layer))
    return replace(measured, estimates={**measured.estimates, **stated})
