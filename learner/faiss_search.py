"""Nearest neighbours by FAISS, in the form of `learner.search.nearest`; approximate but for the flat index."""

import faiss
import numpy as np

from db.domain import Progress, no_progress
from learner.search import ROWS, Pairs, as_pairs


def nearest_by_faiss(
    left: np.ndarray, right: np.ndarray, k: int, symmetric: bool, kind: str, progress: Progress = no_progress
) -> Pairs:
    """Each left row with about its k nearest right rows, as `learner.search.nearest` returns them.

    kind: `faiss-flat` (exact), `faiss-hnsw` or `faiss-ivf`; a flat index goes to the GPU where FAISS knows one.
    """
    index = _index(np.ascontiguousarray(right, dtype=np.float32), kind)
    wanted = min(k + symmetric, len(right))
    ids = np.empty((len(left), wanted), dtype=np.int64)
    scores = np.empty((len(left), wanted), dtype=np.float32)
    for row in range(0, len(left), ROWS):
        scores[row : row + ROWS], ids[row : row + ROWS] = index.search(left[row : row + ROWS], wanted)
        progress("search", min(1.0, (row + ROWS) / len(left)))
    return as_pairs(ids, scores, symmetric)


def _index(vectors: np.ndarray, kind: str) -> faiss.Index:
    dimension, inner = vectors.shape[1], faiss.METRIC_INNER_PRODUCT
    index: faiss.Index
    if kind == "faiss-hnsw":
        index = faiss.IndexHNSWFlat(dimension, 32, inner)
        index.hnsw.efSearch = 256
    elif kind == "faiss-ivf":
        lists = max(1, round(4 * len(vectors) ** 0.5))
        lists = max(1, min(lists, len(vectors) // 39))  # FAISS wants 39 vectors to train each list
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimension), dimension, lists, inner)
        index.nprobe = min(lists, max(8, lists // 8))
        index.train(vectors)
    else:
        index = faiss.IndexFlatIP(dimension)
        if hasattr(faiss, "get_num_gpus") and faiss.get_num_gpus() > 0:
            index = faiss.index_cpu_to_all_gpus(index)
    index.add(vectors)
    return index
