"""Approximate nearest neighbours by FAISS's HNSW graph, like `learner.search.exact.nearest`."""

import faiss
import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.protocol import slices
from allpairs.learner.search.exact import QUERIES, Pairs, as_pairs, best_of_each

SHARD = 1_000_000  # vectors in one index
LINKS, LOOKED_AT = 32, 256  # of a vector, and candidates that a search keeps (efSearch)


def nearest_by_hnsw(
    left: np.ndarray, right: np.ndarray, k: int, symmetric: bool, progress: Progress = no_progress
) -> Pairs:
    """Pair each left row with about its k nearest right rows, as `learner.search.exact.nearest` does.

    An index holds at most SHARD right rows; the results of several are merged.
    """
    wanted = min(k + symmetric, len(right))
    ids = np.full((len(left), wanted), -1, dtype=np.int64)
    scores = np.full((len(left), wanted), -np.inf, dtype=np.float32)
    shards = slices(len(right), SHARD)
    for number, shard in enumerate(shards):
        index = faiss.IndexHNSWFlat(right.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch = LOOKED_AT
        index.add(np.ascontiguousarray(right[shard], dtype=np.float32))
        for some in slices(len(left), QUERIES):
            score, near = index.search(np.ascontiguousarray(left[some], dtype=np.float32), wanted)
            near[near >= 0] += shard.start
            both = np.hstack([ids[some], near]), np.hstack([scores[some], score])
            ids[some], scores[some] = best_of_each(*both, wanted)
            progress("search", (number + some.stop / len(left)) / len(shards))
    return as_pairs(ids, scores, symmetric)
