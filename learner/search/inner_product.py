"""The score of two vectors, and vectors extended so that their inner product is that score.

Every search and evaluation multiplies blocks of left and right vectors. -‖a-b‖² is such a product too: of [2a, -‖a‖²,
-1] and [b, 1, ‖b‖²]; and so is a score with an offset subtracted for each of the two texts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import DTypeLike
from torch import Tensor

from allpairs.db.domain import Distance

CHUNK = 4_096  # pairs scored at once: their vectors fit in a processor's cache
Vectors = TypeVar("Vectors", np.ndarray, Tensor)


@dataclass(frozen=True)
class Space:
    """How two vectors make a score: by a distance and, with an offset, minus the last column of each."""

    distance: Distance = "cosine"
    offset: bool = False


COSINE = Space()
BLENDED = Space(offset=True)  # of the vectors that `learner.scoring.score` makes


def as_left(vectors: np.ndarray, space: Space) -> np.ndarray:
    """Return the vectors (n, d) as the left factor of a score, with extra columns if needed."""
    if space == COSINE:
        return vectors
    bare, offset = _parted(vectors, space)
    if space.distance == "l2":
        offset = offset + _squares(bare)
        bare = 2 * bare
    return np.hstack([bare, -offset, -np.ones_like(offset)])


def as_right(vectors: np.ndarray, space: Space) -> np.ndarray:
    """Return the vectors (n, d) as the right factor of a score, with extra columns if needed."""
    if space == COSINE:
        return vectors
    bare, offset = _parted(vectors, space)
    if space.distance == "l2":
        offset = offset + _squares(bare)
    return np.hstack([bare, np.ones_like(offset), offset])


@dataclass(frozen=True)
class Factor:
    """Vectors of some rows as a factor of a score: an array (n, d) that is computed part by part when it is read."""

    vectors: np.ndarray
    rows: np.ndarray
    space: Space
    as_factor: Callable[[np.ndarray, Space], np.ndarray]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, positions: np.ndarray | slice) -> np.ndarray:
        return self.as_factor(self.vectors[self.rows[positions]], self.space)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)


Readable = np.ndarray | Factor


def factors(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, space: Space) -> tuple[Factor, Factor]:
    """Return the factors of the scores of these left and right rows; the same object if they do not differ."""
    left_factor = Factor(vectors, left, space, as_left)
    same = space == COSINE and np.array_equal(left, right)
    return left_factor, left_factor if same else Factor(vectors, right, space, as_right)


View = tuple[np.ndarray, Space, Callable[[np.ndarray, Space], np.ndarray]] | None  # a factor without its vectors


def taken_apart(side: Readable) -> tuple[np.ndarray, View]:
    """Split a side into its vectors and a view: two factors of the same vectors are then moved with one copy."""
    return (side.vectors, (side.rows, side.space, side.as_factor)) if isinstance(side, Factor) else (side, None)


def put_together(vectors: np.ndarray, view: View) -> Readable:
    """Undo `taken_apart`."""
    return vectors if view is None else Factor(vectors, *view)


def score(left: Vectors, right: Vectors, distance: Distance) -> Vectors:
    """Return the score of each pair of vectors, (n,), from two arrays or tensors (n, d). Cosine: of unit vectors."""
    if distance == "l2":
        return -((left - right) ** 2).sum(1)
    return (left * right).sum(1)


def scores(vectors: np.ndarray, left: np.ndarray, right: np.ndarray, space: Space = COSINE) -> np.ndarray:
    """Return the score of each pair of rows of `vectors`, (n,) float32, computed part by part."""
    bare, offset = _parted(vectors, space)
    parts = [np.empty(0, dtype=np.float32)]
    for start in range(0, len(left), CHUNK):
        rows = left[start : start + CHUNK]
        columns = right[start : start + CHUNK]
        left_vectors, right_vectors = (bare[side].astype(np.float32, copy=False) for side in (rows, columns))
        parts.append(score(left_vectors, right_vectors, space.distance) - offset[rows, 0] - offset[columns, 0])
    return np.concatenate(parts)


def magnitude(left: np.ndarray, right: np.ndarray, space: Space) -> float:
    """Return how large the terms of a score may be, 1 for unit vectors: rounding errors are in proportion to it."""
    if space.distance == "cosine":
        return 1.0
    most = [float(np.sqrt(_squares(_parted(side, space)[0]).max())) for side in (left, right)]
    return max(1.0, (most[0] + most[1]) ** 2 if space.distance == "l2" else most[0] * most[1])


def _parted(vectors: np.ndarray, space: Space) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors themselves, and each text's offset, (n, 1)."""
    if space.offset:
        return vectors[:, :-1], vectors[:, -1:]
    return vectors, np.zeros((len(vectors), 1), dtype=vectors.dtype)


def _squares(vectors: np.ndarray) -> np.ndarray:
    return np.einsum("nd,nd->n", vectors, vectors)[:, None]
