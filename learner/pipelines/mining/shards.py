"""Vectors on disk and their nearest neighbours, in memory that does not grow with the number of texts."""

from pathlib import Path

import numpy as np

from db.progress import Progress, no_progress
from learner.models.encoder import Encoder
from learner.pipelines.mining.texts import TextList
from learner.runtime.array_file import new_array_file
from learner.runtime.engine import default_engine
from learner.runtime.protocol import LOCAL, Engine, Work, slices
from learner.search import exact as search
from learner.search.exact import Neighbours

SHARD = 262_144  # vectors that are searched at once
QUERIES = 8_192  # vectors that are searched for at once


def encode_list(encoder: Encoder, texts: TextList, path: Path, progress: Progress = no_progress) -> None:
    """Nothing; the file holds the texts' unit vectors, float16 (n, d)."""
    vectors = new_array_file(path, np.float16, (len(texts), encoder.dimension))
    start = 0
    for chunk in texts.chunks():

        def part(stage: str, done: float, start: int = start, size: int = len(chunk)) -> None:
            progress(stage, (start + done * size) / len(texts))

        found = encoder.encode(chunk, part)
        vectors[start : start + len(chunk)] = found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-12)
        start += len(chunk)
    vectors.flush()


def neighbours(
    queries: np.ndarray,
    vectors: np.ndarray,
    k: int,
    own: bool = False,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Neighbours:
    """Each query's nearest vectors, the nearest first, ties by row: as `learner.search.exact`, for vectors on disk.

    queries (n, d) and vectors (m, d) may lie on disk: a shard of them is in memory at a time. own: they are the same
    list, and no row is its own neighbour. Fewer columns where there are fewer vectors.
    """
    wanted, engine = min(k + own, len(vectors)), engine or default_engine()
    found = Neighbours(np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32))
    starts = range(0, len(vectors), SHARD)
    for number, start in enumerate(starts):
        shard = vectors[start : start + SHARD].astype(np.float32)

        def part(stage: str, done: float, number: int = number) -> None:
            progress(stage, (number + done) / len(starts))

        found = _merged(found, start, _of_shard(queries, shard, wanted, part, engine), wanted)
    return _without_self(found, min(k, len(vectors) - 1)) if own else found


def _of_shard(queries: np.ndarray, shard: np.ndarray, k: int, progress: Progress, engine: Engine) -> Neighbours:
    parts = [queries[part] for part in slices(len(queries), QUERIES)]
    found = list(engine.map(_searching, (shard, k), parts, "search", progress))
    return Neighbours(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))


def _searching(shard: np.ndarray, k: int) -> Work[np.ndarray, Neighbours]:
    """Work on some of the queries: their nearest vectors of the shard."""
    return lambda some, progress: search.neighbours(
        some.astype(np.float32), shard, k, False, progress=progress, engine=LOCAL
    )


def _merged(found: Neighbours, start: int, more: Neighbours, k: int) -> Neighbours:
    """The k best of both, the best first, ties by row; rows of the second are counted from `start`."""
    ids, scores = np.hstack([found.ids, more.ids + start]), np.hstack([found.scores, more.scores])
    order = np.lexsort((ids, -scores))[:, :k]
    return Neighbours(np.take_along_axis(ids, order, 1), np.take_along_axis(scores, order, 1))


def _without_self(found: Neighbours, k: int) -> Neighbours:
    own = found.ids == np.arange(len(found.ids))[:, None]
    order = np.argsort(own, axis=1, kind="stable")[:, :k]  # the row itself, where it is there, goes last
    return Neighbours(*(np.take_along_axis(array, order, 1) for array in found))
