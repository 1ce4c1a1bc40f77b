"""Near pairs by the search that suits their number and the device, and the recall of an approximate one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from allpairs.db.domain import Search
from allpairs.db.estimate import Estimate, wilson
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.search.exact import (
    Pairs,
    count_pairs,
    nearest,
    nearest_of_sample,
    nearest_scores,
    no_pairs,
    search_device,
)
from allpairs.learner.search.hnsw import nearest_by_hnsw
from allpairs.learner.search.inner_product import Readable
from allpairs.learner.search.inverted_file import nearest_by_lists, neighbours_by_lists

EXACT_UP_TO = {"cpu": 250_000, "cuda": 5_000_000}  # texts of each list; some minutes of exact search (docs/scale.md)
MOST = 100_000_000  # neighbours of all texts together, more where there is memory
BYTES = 50  # that one takes while duplicates are removed
SHARE = 0.25  # share of the machine's memory that all may take
SAMPLED = 1_000  # left texts whose true neighbours are searched, to measure an approximate search


@dataclass(frozen=True)
class Near:
    """Each left row with its nearest right rows as pairs, each once, and how they were searched.

    recall: the share of a text's true neighbours that the search found, if it is approximate.
    """

    pairs: Pairs
    method: Search
    neighbours: int
    recall: Estimate | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return `{method, neighbours, recall}` as in files."""
        recall = None if self.recall is None else self.recall.as_dict()
        return {"method": self.method, "neighbours": self.neighbours, "recall": recall}

    def words(self, neighbours: int) -> str:
        """Return the remarks of `search_remarks` on this search."""
        return search_remarks(self.as_dict(), neighbours)


def search_remarks(search: Mapping[str, Any], neighbours: int) -> str:
    """Return remarks for people on a search (`Near.as_dict`); empty if it found all of these neighbours."""
    remarks = []
    searched = search["neighbours"]
    recall = search["recall"]
    if searched < neighbours:
        remarks.append(f"With so many texts only {searched:,} neighbours each are kept instead of {neighbours:,}.")
    if recall is not None:
        value, low, high = (f"{100 * recall[bound]:.1f}" for bound in ("value", "low", "high"))
        remarks.append(
            f"The neighbour search was approximate ({search['method']}): it found {value}% ({low}–{high}%) of the true "
            f"neighbours, measured on {recall['labels']:,} sampled texts."
        )
    return " ".join(remarks)


def most_neighbours(texts: int) -> int:
    """Return how many neighbours of each of so many texts this machine's memory holds."""
    return int(max(MOST, SHARE * psutil.virtual_memory().total / BYTES)) // max(1, texts)


def near_pairs(
    left: Readable,
    right: Readable,
    k: int,
    symmetric: bool,
    rng: np.random.Generator,
    search: Search = "auto",
    progress: Progress = no_progress,
) -> Near:
    """Pair each left row with its k nearest right rows, in a symmetric corpus each pair once, left < right.

    left (n, d), right (m, d): vectors whose inner product is the score, of the same items if symmetric; a search of
    lists leaves vectors on disk that lie there. `auto` is exact up to a number of pairs that depends on the device, and
    searches lists above. An approximate search tries to find 95 % of the neighbours; how many it does is measured. k is
    lowered to `most_neighbours`. The generator is not drawn from: approximate searches have generators of their own,
    from its seed.
    """
    method = search
    if search == "auto":
        method = "exact" if searches_exactly(len(left), len(right)) else "faiss-ivf"
    k = max(1, min(k, most_neighbours(len(left))))
    if not count_pairs(len(left), len(right), symmetric):
        return Near(no_pairs(), method, k)
    if method == "exact":
        return Near(nearest(*_arrays(left, right), k, symmetric, progress=progress), method, k)
    first = part_of(progress, 0.0, 0.95)
    last = part_of(progress, 0.95, 1.0)
    if method == "faiss-ivf":
        pairs = nearest_by_lists(left, right, k, symmetric, rng.spawn(1)[0], first)
    else:
        pairs = nearest_by_hnsw(*_arrays(left, right), k, symmetric, rng.spawn(1)[0], first)
    return Near(pairs, method, k, neighbour_recall(left, right, pairs, k, symmetric, rng.spawn(1)[0], last))


def near_scores(
    left: Readable, right: Readable, k: int, symmetric: bool, progress: Progress = no_progress
) -> np.ndarray:
    """Return the scores of the k right rows nearest to each left row, without itself, (n, k) float32.

    Searched as in `near_pairs`; fewer columns if there are fewer right rows.
    """
    if not count_pairs(len(left), len(right), symmetric):
        return np.empty((len(left), 0), dtype=np.float32)
    if searches_exactly(len(left), len(right)):
        return nearest_scores(*_arrays(left, right), k, symmetric, progress=progress)
    near = neighbours_by_lists(left, right, k + symmetric, np.random.default_rng(0), progress)
    if not symmetric:
        return near.scores
    return _without(near.scores, near.ids == np.arange(len(left))[:, None])


def _arrays(left: Readable, right: Readable) -> tuple[np.ndarray, np.ndarray]:
    """Return both in memory, as the same array if they are one list, which is then moved once."""
    array = np.asarray(left)
    return array, array if right is left else np.asarray(right)


def searches_exactly(left: int, right: int) -> bool:
    """Return whether `auto` searches so many left and right rows exactly."""
    return left * right <= EXACT_UP_TO[search_device()] ** 2


def neighbour_recall(
    left: Readable,
    right: Readable,
    pairs: Pairs,
    k: int,
    symmetric: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> Estimate:
    """Estimate the share of a text's k true neighbours among the pairs, on average, from a sample of left rows.

    The interval is Wilson's for as many texts that have all of their neighbours or none: no share varies more.
    """
    sample = np.sort(rng.choice(len(left), min(SAMPLED, len(left)), replace=False))
    near = nearest_of_sample(left[sample], right, k + symmetric, progress)
    if symmetric:
        near = _without(near, near == sample[:, None])
    rows = np.broadcast_to(sample[:, None], near.shape)
    true = Pairs(np.minimum(rows, near), np.maximum(rows, near), near) if symmetric else Pairs(rows, near, near)
    touched = np.isin(pairs.left, sample) | (symmetric & np.isin(pairs.right, sample))
    size = max(len(left), len(right))
    share = np.isin(true.keys(size), pairs.take(touched).keys(size)).mean(1)
    low, high = wilson(float(share.sum()), len(share))
    return Estimate(float(share.mean()), low, high, "sample of texts, exact search", len(share))


def _without(near: np.ndarray, itself: np.ndarray) -> np.ndarray:
    """Return the values of neighbours (n, k) without each row's own, which is there unless equal texts displaced it."""
    drop = itself.copy()
    drop[:, -1] |= ~drop.any(1)
    return near[~drop].reshape(len(near), -1)
