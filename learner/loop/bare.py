"""Fit and measure the bare score of a trained matcher: its encoder's vectors, without lexical features and hubness."""

from typing import Any

import numpy as np

from allpairs.db.domain import Distance, Settings
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.round import evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.bare import bare_details, bare_vectors
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.inner_product import Space


def fitted_bare(
    dataset: Dataset, vectors: np.ndarray, blend: Blend, labelled: Labelled, distance: Distance = "cosine"
) -> tuple[np.ndarray, OutputLayer]:
    """Return the bare vectors (texts, e + 1) of labelled and evaluation texts, the others 0, and their output layer.

    vectors: (texts, d), blended.
    """
    rows = np.unique(np.concatenate([labelled.left, labelled.right, dataset.evaluation_left, dataset.evaluation_right]))
    bare = bare_vectors(vectors, blend, rows)
    return bare, refit(bare, labelled, Space(distance, offset=True))


def measured_bare(
    dataset: Dataset,
    vectors: np.ndarray,
    blend: Blend,
    labelled: Labelled,
    settings: Settings,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return the details of the bare score, with its average precision if there is a gold positive to measure on."""
    bare, layer = fitted_bare(dataset, vectors, blend, labelled, settings.distance)
    measured = evaluate_dataset(dataset, bare, progress, layer, Space(settings.distance, offset=True), settings.seed)
    figure = None if measured is None else measured.estimates["average_precision"].as_dict()
    return bare_details(layer, settings.distance, figure)
