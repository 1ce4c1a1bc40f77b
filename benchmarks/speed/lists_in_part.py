"""Search some of very many vectors in lists, as much as says what all of them would cost and find."""

import time

import numpy as np

from allpairs.db.estimate import Estimate, wilson
from allpairs.db.progress import no_progress
from allpairs.learner.search.exact import TARGET, nearest_of_sample
from allpairs.learner.search.inner_product import taken_apart
from allpairs.learner.search.inverted_file import QUERIES, make_index, probes_for, searching

SAMPLED = 1_000  # texts whose neighbours are searched exactly as well


def lists_in_part(vectors: np.ndarray, k: int, parts: int, seed: int = 0) -> dict[str, object]:
    """Return `{seconds, probes, recall}`: CPU seconds of a search for the k neighbours of all vectors (n, d).

    The lists and the number to look into are made for all; then 65,536 vectors a part are searched, and their time is
    multiplied. Each part is neighbouring lists from anywhere in their order, as in a whole search.
    """
    rng = np.random.default_rng(seed)
    start = time.process_time()
    index = make_index(vectors, rng)
    probes = probes_for(TARGET, vectors, vectors, index, k + 1, rng, no_progress)
    made = time.process_time() - start
    work = searching(*taken_apart(vectors) * 2, index, probes, k + 1)
    begins = rng.choice(max(1, len(vectors) - QUERIES), parts, replace=False)
    start = time.process_time()
    for begin in begins:
        work(index.lists.rows[begin : begin + QUERIES], no_progress)
    share = min(QUERIES, len(vectors)) * parts / len(vectors)
    seconds = made + (time.process_time() - start) / share
    rows = np.sort(rng.choice(len(vectors), min(SAMPLED, len(vectors)), replace=False))
    found = work(rows, no_progress)[0]
    true = nearest_of_sample(np.asarray(vectors[rows]), vectors, k + 1)
    both = zip(rows.tolist(), found, true, strict=True)
    shares = [np.isin(wanted[wanted != row][:k], near).mean() for row, near, wanted in both]
    low, high = wilson(float(np.sum(shares)), len(shares))
    recall = Estimate(float(np.mean(shares)), low, high, "sample of texts, exact search", len(shares))
    return {"seconds": seconds, "probes": probes, "lists": len(index.centres), "recall": recall.as_dict()}
