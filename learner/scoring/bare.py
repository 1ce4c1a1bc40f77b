"""The bare score: the encoder's cosine alone, with an output layer of its own, for programs that know only the encoder.

It is another score than the matcher's: w, b, threshold and figures of one do not hold for the other.
"""

from typing import Any

import numpy as np

from allpairs.db.domain import Distance
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.lexical_weights import total
from allpairs.learner.scoring.score import Blend

KEY = "bare"  # in a matcher's details


def bare_vectors(vectors: np.ndarray, blend: Blend, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the encoder's vectors (texts, e + 1) of blended ones (texts, d), with an offset of 0.

    rows: the only ones needed; the others are 0, which takes no memory until they are read.
    """
    width = vectors.shape[1] - blend.extra
    rows = np.arange(len(vectors)) if rows is None else rows
    bare = np.zeros((len(vectors), width + 1), dtype=np.float32)
    bare[rows, :width] = vectors[rows, :width] * np.sqrt(np.float32(total(blend.lexical)))
    return bare


def bare_details(layer: OutputLayer, distance: Distance, figure: dict[str, Any] | None) -> dict[str, Any]:
    """Return the bare score's entries in a matcher's details; figure: its average precision, once it is measured."""
    known = {"score": distance, "w": layer.w, "b": layer.b, "threshold": layer.threshold}
    return {KEY: known | ({} if figure is None else {"average_precision": figure})}
