"""Approximate nearest neighbours by FAISS's HNSW graph, like `learner.search.exact.nearest`."""

import faiss
import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.protocol import slices
from allpairs.learner.search.exact import (
    QUERIES,
    TARGET,
    TRIED,
    Pairs,
    best_of_each,
    nearest_of_sample,
    neighbour_pairs,
)

SHARD = 1_000_000  # vectors in one index
LINKS = 32  # of a vector
# candidates that a search keeps (efSearch), at first and at most
LOOKED_AT = 64
MOST_LOOKED_AT = 4_096


def nearest_by_hnsw(
    left: np.ndarray,
    right: np.ndarray,
    k: int,
    symmetric: bool,
    rng: np.random.Generator,
    progress: Progress = no_progress,
    target: float = TARGET,
) -> Pairs:
    """Pair each left row with about its k nearest right rows, as `learner.search.exact.nearest` does.

    Each search keeps as many candidates as find that share of the true neighbours of a sample. An index holds at most
    SHARD right rows; the results of several are merged.
    """
    count = min(k + symmetric, len(right))
    ids = np.full((len(left), count), -1, dtype=np.int64)
    scores = np.full((len(left), count), -np.inf, dtype=np.float32)
    sample = left[np.sort(rng.choice(len(left), min(TRIED, len(left)), replace=False))]
    sample = np.ascontiguousarray(sample, dtype=np.float32)
    shards = slices(len(right), SHARD)
    for number, shard in enumerate(shards):
        index = faiss.IndexHNSWFlat(right.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.add(np.ascontiguousarray(right[shard], dtype=np.float32))
        look_far_enough(index, sample, nearest_of_sample(sample, right[shard], count), target)
        for rows in slices(len(left), QUERIES):
            score, near = index.search(np.ascontiguousarray(left[rows], dtype=np.float32), count)
            near[near >= 0] += shard.start
            candidates = np.hstack([ids[rows], near]), np.hstack([scores[rows], score])
            ids[rows], scores[rows] = best_of_each(*candidates, count)
            progress("search", (number + rows.stop / len(left)) / len(shards))
    return neighbour_pairs(ids, scores, symmetric)


def look_far_enough(index: faiss.IndexHNSWFlat, queries: np.ndarray, near: np.ndarray, target: float) -> None:
    """Let searches of the index keep so many candidates that they find this share of the neighbours near (n, k)."""
    index.hnsw.efSearch = max(LOOKED_AT, near.shape[1])
    while index.hnsw.efSearch < MOST_LOOKED_AT:
        near_ids = index.search(queries, near.shape[1])[1]
        if np.mean([np.isin(true, searched).mean() for true, searched in zip(near, near_ids, strict=True)]) >= target:
            return
        index.hnsw.efSearch *= 2
