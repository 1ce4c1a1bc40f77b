"""The score of texts that nobody has labelled, where groups need one: with lexical similarity, and its careful end."""

import numpy as np

from allpairs.learner.data.dataset import Dataset
from allpairs.learner.scoring.score import Blend, blended

# From `CAREFUL` on pairs are joined; docs/log.md has what that finds in five lists.
UNTRAINED = Blend(0.0, {"ngrams": 1.0, "words": 0.5, "numbers": 0.2, "length": 0.1})
CAREFUL = 0.58


def untrained_vectors(dataset: Dataset, vectors: np.ndarray, blend: Blend) -> np.ndarray:
    """Return the vectors (texts, d) of the untrained score; vectors: (texts, e), of the pre-trained encoder's blend."""
    assert not blend.lexical  # their vectors are shorter
    return blended(dataset, vectors[:, : -blend.extra], UNTRAINED)
