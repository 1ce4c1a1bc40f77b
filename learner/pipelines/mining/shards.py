"""Vectors on disk and their nearest neighbours, in memory that does not grow with the number of texts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from db.domain import Progress, no_progress
from learner.encoder import Encoder
from learner.pipelines.mining.texts import TextList
from learner.search import Neighbours, as_tensor, best_of_rows

SHARD = 262_144  # vectors that are searched at once
QUERIES = 8_192  # vectors that are searched for at once


def encode_list(encoder: Encoder, texts: TextList, path: Path, progress: Progress = no_progress) -> None:
    """Nothing; the file holds the texts' unit vectors, float16 (n, d)."""
    vectors = np.lib.format.open_memmap(path, "w+", np.float16, (len(texts), encoder.dimension))
    start = 0
    for chunk in texts.chunks():

        def part(stage: str, done: float, start: int = start, size: int = len(chunk)) -> None:
            progress(stage, (start + done * size) / len(texts))

        found = encoder.encode(chunk, part)
        vectors[start : start + len(chunk)] = found / np.linalg.norm(found, axis=1, keepdims=True).clip(1e-12)
        start += len(chunk)
    vectors.flush()


def neighbours(
    queries: np.ndarray, vectors: np.ndarray, k: int, own: bool = False, progress: Progress = no_progress
) -> Neighbours:
    """Each query's nearest vectors, the nearest first, ties by row: `learner.search.neighbours` for vectors on disk.

    queries (n, d) and vectors (m, d) may lie on disk: a shard of them is in memory at a time. own: they are the same
    list, and no row is its own neighbour. Fewer columns where there are fewer vectors.
    """
    wanted = min(k + own, len(vectors))
    rows = np.empty((len(queries), 0), dtype=np.int64)
    cosines = np.empty((len(queries), 0), dtype=np.float32)
    shards = range(0, len(vectors), SHARD)
    for number, start in enumerate(shards):
        shard = as_tensor(vectors[start : start + SHARD])

        def part(done: float, number: int = number) -> None:
            progress("search", (number + done) / len(shards))

        near, their = _of_shard(queries, shard, wanted, part)
        rows, cosines = _merged(rows, cosines, near + start, their, wanted)
    return Neighbours(*(_without_self(rows, cosines, min(k, len(vectors) - 1)) if own else (rows, cosines)))


def _of_shard(
    queries: np.ndarray, shard: torch.Tensor, k: int, progress: Callable[[float], None]
) -> tuple[np.ndarray, np.ndarray]:
    k = min(k, len(shard))
    rows = np.empty((len(queries), k), dtype=np.int64)
    cosines = np.empty((len(queries), k), dtype=np.float32)
    for start in range(0, len(queries), QUERIES):
        here = slice(start, start + QUERIES)
        values, at = best_of_rows(as_tensor(queries[here]), shard, k)
        rows[here], cosines[here] = at.cpu().numpy(), values.cpu().numpy()
        progress(min(1.0, (start + QUERIES) / len(queries)))
    return rows, cosines


def _merged(
    rows: np.ndarray, cosines: np.ndarray, more: np.ndarray, their: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k best of both, the best first, ties by row."""
    rows, cosines = np.hstack([rows, more]), np.hstack([cosines, their])
    order = np.lexsort((rows, -cosines))[:, :k]
    return np.take_along_axis(rows, order, 1), np.take_along_axis(cosines, order, 1)


def _without_self(rows: np.ndarray, cosines: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    own = rows == np.arange(len(rows))[:, None]
    order = np.argsort(own, axis=1, kind="stable")[:, :k]  # the row itself, where it is there, goes last
    return np.take_along_axis(rows, order, 1), np.take_along_axis(cosines, order, 1)
