"""The score of texts that nobody has labelled, with its careful end: by their columns, else with lexical similarity."""

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.field_features import has_agreement
from allpairs.learner.second_stage.make import Staged, staged_without_labels

CAREFUL_P = 0.8  # by the agreement of columns
# Without columns, from `CAREFUL` on pairs are joined; docs/log.md has what that finds in five lists.
UNTRAINED = Blend(0.0, {"ngrams": 1.0, "words": 0.5, "numbers": 0.2, "length": 0.1})
CAREFUL = 0.58


def untrained_vectors(dataset: Dataset, vectors: np.ndarray, blend: Blend) -> np.ndarray:
    """Return the vectors (texts, d) of the untrained score; vectors: (texts, e), of the pre-trained encoder's blend."""
    assert not blend.lexical  # their vectors are shorter
    return blended(dataset, vectors[:, : -blend.extra], UNTRAINED)


def untrained_stage(
    dataset: Dataset, vectors: np.ndarray, settings: Settings, progress: Progress = no_progress
) -> Staged | None:
    """Return the untrained score by columns; None where there are none to compare, or the settings want none.

    vectors: (texts, d), of the pre-trained encoder with the settings' hubness correction.
    """
    if settings.second_stage == "off" or settings.distance != "cosine" or not has_agreement(dataset.kinds):
        return None
    return stage_by_columns(dataset, untrained_vectors(dataset, vectors, Blend(settings.hubness)), progress)


def stage_by_columns(dataset: Dataset, vectors: np.ndarray, progress: Progress = no_progress) -> Staged | None:
    """Return the untrained score by columns, as `untrained_stage`; vectors: (texts, d), as of `untrained_vectors`."""
    return staged_without_labels(dataset, vectors, BLENDED, progress)
