"""Nearest neighbours by FAISS, like `learner.search.exact.nearest`; approximate except for the flat index."""

import faiss
import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.protocol import slices
from allpairs.learner.search.exact import ROWS, Pairs, as_pairs, best_of_each

SHARD = 1_000_000  # vectors in one index
LINKS, LOOKED_AT = 32, 256  # of HNSW: links of a vector, and candidates that a search keeps (efSearch)


def nearest_by_faiss(
    left: np.ndarray, right: np.ndarray, k: int, symmetric: bool, kind: str, progress: Progress = no_progress
) -> Pairs:
    """Pair each left row with about its k nearest right rows, as `learner.search.exact.nearest` does.

    kind: `faiss-flat` (exact) or `faiss-hnsw`; a flat index is put on the GPU if FAISS supports it. An index holds at
    most SHARD right rows; the results of several are merged.
    """
    wanted = min(k + symmetric, len(right))
    ids = np.full((len(left), wanted), -1, dtype=np.int64)
    scores = np.full((len(left), wanted), -np.inf, dtype=np.float32)
    shards = slices(len(right), SHARD)
    for number, shard in enumerate(shards):
        index = _index(np.ascontiguousarray(right[shard], dtype=np.float32), kind)
        for some in slices(len(left), ROWS):
            score, near = index.search(np.ascontiguousarray(left[some], dtype=np.float32), wanted)
            near[near >= 0] += shard.start
            both = np.hstack([ids[some], near]), np.hstack([scores[some], score])
            ids[some], scores[some] = best_of_each(*both, wanted)
            progress("search", (number + some.stop / len(left)) / len(shards))
    return as_pairs(ids, scores, symmetric)


def _index(vectors: np.ndarray, kind: str) -> faiss.Index:
    dimension, inner = vectors.shape[1], faiss.METRIC_INNER_PRODUCT
    index: faiss.Index
    if kind == "faiss-hnsw":
        index = faiss.IndexHNSWFlat(dimension, LINKS, inner)
        index.hnsw.efSearch = LOOKED_AT
    else:
        index = faiss.IndexFlatIP(dimension)
        if hasattr(faiss, "get_num_gpus") and faiss.get_num_gpus() > 0:
            index = faiss.index_cpu_to_all_gpus(index)
    index.add(vectors)
    return index
