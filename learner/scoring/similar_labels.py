"""The labelled pairs most similar to a pair: what the model has seen of its kind."""

import numpy as np

BLOCK = 1_024  # pairs compared with all labelled ones at once


def most_alike(
    vectors: np.ndarray, pairs: np.ndarray, labelled: np.ndarray, symmetric: bool, k: int = 3
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each pair the positions of the k most similar labelled pairs, best first, and their similarities.

    Two arrays (n, k), int64 and float32; fewer columns if fewer pairs are labelled. The similarity is the mean cosine
    of the left texts and of the right texts; in a project of one list (symmetric) the larger of both orders.

    vectors: (texts, d), of any length; pairs, labelled: (n, 2) and (m, 2) rows of vectors.
    """
    k = min(k, len(labelled))
    places = np.empty((len(pairs), k), dtype=np.int64)
    alike = np.empty((len(pairs), k), dtype=np.float32)
    if not k:
        return places, alike
    labelled_sides = [_unit(vectors[labelled[:, side]]) for side in (0, 1)]
    for start in range(0, len(pairs), BLOCK):
        block = pairs[start : start + BLOCK]
        pair_sides = [_unit(vectors[block[:, side]]) for side in (0, 1)]
        similarity = pair_sides[0] @ labelled_sides[0].T + pair_sides[1] @ labelled_sides[1].T
        if symmetric:
            similarity = np.maximum(
                similarity, pair_sides[0] @ labelled_sides[1].T + pair_sides[1] @ labelled_sides[0].T
            )
        best = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(similarity, best, 1), axis=1, kind="stable")
        places[start : start + BLOCK] = np.take_along_axis(best, order, 1)
        alike[start : start + BLOCK] = np.take_along_axis(similarity, places[start : start + BLOCK], 1) / 2
    return places, alike


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
