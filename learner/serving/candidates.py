"""The rows nearest to a few vectors at a time: exact where that takes milliseconds, else by an inverted file."""

from dataclasses import dataclass, replace

import faiss
import numpy as np

from allpairs.db.domain import Search
from allpairs.db.estimate import Estimate, wilson
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.search.exact import TRIED, nearest_of_sample
from allpairs.learner.search.inner_product import Readable
from allpairs.learner.search.inverted_file import Index, make_index, probes_for

EXACT_UP_TO = 50_000_000  # numbers in all vectors: a core multiplies them with a query in about 20 milliseconds
NEAREST = 10  # nearest rows by which an inverted file is tuned and measured
TARGET = 0.98  # share of them that it tries to find
CHUNK = 65_536  # vectors added at once
LANES = 16  # numbers that FAISS multiplies at once: of vectors of another width it multiplies one at a time


@dataclass(frozen=True)
class CandidateIndex:
    """An index of vectors by inner product; recall: the share of the ten nearest that it finds, None if all."""

    index: faiss.Index
    method: Search
    recall: Estimate | None = None

    def search(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return the k rows nearest to each query (n, d), (n, k) int64 in about this order; -1 where fewer are found.

        The order is that of half precision where the search is not exact.
        """
        rows: np.ndarray = self.index.search(_wide(queries, self.index.d), k)[1]
        return rows


def make_candidates(
    queries: Readable,
    vectors: Readable,
    rng: np.random.Generator,
    progress: Progress = no_progress,
    exact: int = EXACT_UP_TO,
) -> CandidateIndex:
    """Index the vectors (m, d); queries (n, d): vectors like those that will be searched for, to tune it with."""
    width = vectors[:1].shape[1] if len(vectors) else 1
    if len(vectors) * width <= exact:
        flat = faiss.IndexFlatIP(width)
        if len(vectors):
            flat.add(np.ascontiguousarray(vectors[:], dtype=np.float32))
        return CandidateIndex(flat, "exact")
    lists = make_index(vectors, rng.spawn(1)[0], part_of(progress, 0.0, 0.6))
    probes = probes_for(TARGET, queries, vectors, lists, NEAREST, rng.spawn(1)[0], part_of(progress, 0.6, 0.7))
    index = _filled(vectors, lists, part_of(progress, 0.7, 0.9))
    index.nprobe = probes
    candidates = CandidateIndex(index, "faiss-ivf")
    return replace(
        candidates, recall=_recall(candidates, queries, vectors, rng.spawn(1)[0], part_of(progress, 0.9, 1.0))
    )


def _filled(vectors: Readable, lists: Index, progress: Progress) -> faiss.IndexIVF:
    """Return FAISS's inverted file of these lists, with the vectors in half precision."""
    count = len(lists.centres)
    width = -(-lists.centres.shape[1] // LANES) * LANES
    centres = faiss.IndexFlatIP(width)
    centres.add(_wide(lists.centres, width))
    index = faiss.IndexIVFScalarQuantizer(
        centres, width, count, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
    )
    index.train(_wide(lists.centres, width))
    number = np.empty(len(vectors), dtype=np.int64)
    number[lists.lists.rows] = np.repeat(np.arange(count), np.diff(lists.lists.begins))
    for start in range(0, len(vectors), CHUNK):
        rows = np.arange(start, min(start + CHUNK, len(vectors)))
        part = _wide(vectors[rows], width)
        lists_of_rows = number[rows]
        index.add_core(len(rows), faiss.swig_ptr(part), faiss.swig_ptr(rows), faiss.swig_ptr(lists_of_rows))
        progress("index", rows[-1] / len(vectors))
    return index


def _wide(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return the vectors (n, d) with columns of 0 up to this width, (n, width) float32."""
    wide = np.zeros((len(vectors), width), dtype=np.float32)
    wide[:, : vectors.shape[1]] = vectors
    return wide


def _recall(
    candidates: CandidateIndex, queries: Readable, vectors: Readable, rng: np.random.Generator, progress: Progress
) -> Estimate:
    """Measure the share of a row's nearest that the index finds, on rows that it was not tuned with.

    The interval is Wilson's for as many rows that have all of them or none: no share varies more.
    """
    sample = np.sort(rng.choice(len(queries), min(TRIED, len(queries)), replace=False))
    sampled = np.asarray(queries[sample], dtype=np.float32)
    near = nearest_of_sample(sampled, vectors, NEAREST, progress)
    retrieved = candidates.search(sampled, NEAREST)
    share = np.array([np.isin(true, rows).mean() for true, rows in zip(near, retrieved, strict=True)])
    low, high = wilson(float(share.sum()), len(share))
    return Estimate(float(share.mean()), low, high, "sample of texts, exact search", len(share))
