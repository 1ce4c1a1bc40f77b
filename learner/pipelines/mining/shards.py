"""Vectors on disk and their nearest neighbours, in memory that does not grow with the number of texts."""

from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.pipelines.mining.texts import TextList
from allpairs.learner.runtime.array_file import new_array_file
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import LOCAL, Engine, Work, slices
from allpairs.learner.search import exact as search
from allpairs.learner.search.exact import Neighbours

SHARD = 262_144  # vectors searched at once
QUERIES = 8_192  # queries searched for at once


def encode_list(encoder: Encoder, texts: TextList, path: Path, progress: Progress = no_progress) -> None:
    """Write the texts' unit vectors, float16 (n, d), to the file."""
    vectors = new_array_file(path, np.float16, (len(texts), encoder.dimension))
    start = 0
    for chunk in texts.chunks():
        part = part_of(progress, start / len(texts), (start + len(chunk)) / len(texts))
        chunk_vectors = encoder.encode(chunk, part)
        vectors[start : start + len(chunk)] = chunk_vectors / np.linalg.norm(chunk_vectors, axis=1, keepdims=True).clip(
            1e-12
        )
        start += len(chunk)
    vectors.flush()


def disk_neighbours(
    queries: np.ndarray,
    vectors: np.ndarray,
    k: int,
    same: bool = False,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Neighbours:
    """Return each query's nearest vectors, nearest first, ties by row: `learner.search.exact` for vectors on disk.

    queries (n, d) and vectors (m, d) may be memory-mapped: one shard at a time is in memory. same: both are the same
    list, and no row is its own neighbour. There are fewer than k columns if there are fewer vectors.
    """
    depth = min(k + same, len(vectors))
    engine = engine or default_engine()
    best = Neighbours(np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32))
    starts = range(0, len(vectors), SHARD)
    for number, start in enumerate(starts):
        shard = vectors[start : start + SHARD].astype(np.float32)
        part = part_of(progress, number / len(starts), (number + 1) / len(starts))
        best = _merged(best, start, _of_shard(queries, shard, depth, part, engine), depth)
    return _without_self(best, min(k, len(vectors) - 1)) if same else best


def _of_shard(queries: np.ndarray, shard: np.ndarray, k: int, progress: Progress, engine: Engine) -> Neighbours:
    parts = [queries[part] for part in slices(len(queries), QUERIES)]
    results = list(engine.map(_searching, (shard, k), parts, "search", progress))
    return Neighbours(*(np.concatenate(arrays) for arrays in zip(*results, strict=True)))


def _searching(shard: np.ndarray, k: int) -> Work[np.ndarray, Neighbours]:
    """Return the work on some queries: find their nearest vectors in the shard."""
    return lambda part, progress: search.neighbours(
        part.astype(np.float32), shard, k, False, progress=progress, engine=LOCAL
    )


def _merged(best: Neighbours, start: int, more: Neighbours, k: int) -> Neighbours:
    """Return the k best of both, best first, ties by row; rows of the second are counted from `start`."""
    ids = np.hstack([best.ids, more.ids + start])
    scores = np.hstack([best.scores, more.scores])
    order = np.lexsort((ids, -scores))[:, :k]
    return Neighbours(np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1))


def _without_self(near: Neighbours, k: int) -> Neighbours:
    itself = near.ids == np.arange(len(near.ids))[:, None]
    order = np.argsort(itself, axis=1, kind="stable")[:, :k]  # the row itself, if present, goes last
    return Neighbours(*(np.take_along_axis(array, order, 1) for array in near))
