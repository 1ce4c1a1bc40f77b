"""Approximate nearest neighbours of very many vectors: an inverted file, searched list by list.

FAISS finds the lists (`Kmeans`) and assigns each vector to one. It would search query by query, and each query would
read its lists from memory again. Here very many queries are known at once: all queries of a list are one matrix product
with it.
"""

from dataclasses import dataclass
from typing import NamedTuple

import faiss
import numpy as np
import torch
from torch import Tensor

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work, slices
from allpairs.learner.search.exact import ROWS, TARGET, TRIED, Neighbours, Pairs, nearest_of_sample, neighbour_pairs
from allpairs.learner.search.inner_product import Readable, View, put_together, taken_apart

LISTS = 2.0  # lists for each square root of the number of vectors
PER_LIST = 64  # vectors used to learn each list's centre, on average
ROUNDS = 10  # of k-means
CHUNK = 65_536  # vectors that are assigned to their lists at once
QUERIES = 65_536  # of one part of the search, in the order of their own lists, so that they share most lists


class InvertedLists(NamedTuple):
    """Rows in the order of their lists: (n,) int64, and where each list begins, (lists + 1,) int64."""

    rows: np.ndarray
    begins: np.ndarray

    def take(self, number: int) -> np.ndarray:
        """Return the rows of a list."""
        return self.rows[self.begins[number] : self.begins[number + 1]]


@dataclass(frozen=True)
class Index:
    """The right vectors' lists, and their centres (lists, d) float32."""

    lists: InvertedLists
    centres: np.ndarray


def nearest_by_lists(
    left: Readable,
    right: Readable,
    k: int,
    symmetric: bool,
    rng: np.random.Generator,
    progress: Progress = no_progress,
    engine: Engine | None = None,
    target: float = TARGET,
) -> Pairs:
    """Pair each left row with about its k nearest right rows, as `learner.search.exact.nearest` does."""
    return neighbour_pairs(*neighbours_by_lists(left, right, k + symmetric, rng, progress, engine, target), symmetric)


def neighbours_by_lists(
    left: Readable,
    right: Readable,
    k: int,
    rng: np.random.Generator,
    progress: Progress = no_progress,
    engine: Engine | None = None,
    target: float = TARGET,
) -> Neighbours:
    """Return about the k right rows nearest to each left row, in no order; -1 where fewer were found.

    Each row looks into as many lists as find that share of the true neighbours of a sample.

    left (n, d) and right (m, d) may be float16, lie on disk, or be computed when they are read: only the vectors of
    some lists are in memory at a time.
    """
    index = make_index(right, rng, part_of(progress, 0.0, 0.2))
    left_lists = index.lists if left is right else _lists(left, index.centres, part_of(progress, 0.2, 0.25))
    probes = probes_for(target, left, right, index, k, rng, part_of(progress, 0.25, 0.3))
    k = min(k, len(right))
    parts = [left_lists.rows[part] for part in slices(len(left), QUERIES)]
    result = Neighbours(np.full((len(left), k), -1, np.int64), np.full((len(left), k), -np.inf, np.float32))
    arguments = (*taken_apart(left), *taken_apart(right), index, probes, k)
    search = (engine or default_engine()).map(searching, arguments, parts, "search", part_of(progress, 0.3, 1.0))
    for rows, near in zip(parts, search, strict=True):
        result.ids[rows], result.scores[rows] = near
    return result


def make_index(vectors: Readable, rng: np.random.Generator, progress: Progress = no_progress) -> Index:
    """Sort the vectors (n, d) into lists around centres that are learned from a sample."""
    count = max(1, min(round(LISTS * len(vectors) ** 0.5), len(vectors) // PER_LIST))
    rows = rng.choice(len(vectors), min(len(vectors), PER_LIST * count), replace=False)
    sample = _read(vectors, np.sort(rows))
    learned = faiss.Kmeans(
        sample.shape[1],
        count,
        niter=ROUNDS,
        seed=int(rng.integers(2**31)),
        spherical=True,
        min_points_per_centroid=1,
        max_points_per_centroid=len(sample),
    )
    progress("lists", 0.0)
    learned.train(sample)
    centres = np.asarray(learned.centroids)
    return Index(_lists(vectors, centres, part_of(progress, 0.5, 1.0)), centres)


def _lists(vectors: Readable, centres: np.ndarray, progress: Progress) -> InvertedLists:
    """Return the vectors' rows by the centre with the highest product."""
    nearest = faiss.IndexFlatIP(centres.shape[1])
    nearest.add(centres)
    number = np.empty(len(vectors), dtype=np.int64)
    for part in slices(len(vectors), CHUNK):
        number[part] = nearest.search(_read(vectors, part), 1)[1][:, 0]
        progress("lists", part.stop / max(1, len(vectors)))
    return InvertedLists(
        np.argsort(number, kind="stable"), np.r_[0, np.cumsum(np.bincount(number, minlength=len(centres)))]
    )


def probes_for(
    target: float, left: Readable, right: Readable, index: Index, k: int, rng: np.random.Generator, progress: Progress
) -> int:
    """Return the number of lists that hold this share of the true neighbours of a sample of left rows, at least 1.

    No trial search is needed: a neighbour is found if its list's centre is among the nearest ones of the row.
    """
    sample = np.sort(rng.choice(len(left), min(TRIED, len(left)), replace=False))
    queries = _read(left, sample)
    near = nearest_of_sample(queries, right, min(k, len(right)), progress)
    list_of = np.empty(len(right), dtype=np.int64)
    list_of[index.lists.rows] = np.repeat(np.arange(len(index.centres)), np.diff(index.lists.begins))
    needed = [np.empty(0, dtype=np.int64)]  # the lists up to each neighbour's
    for row, products, near_rows in zip(sample, queries @ index.centres.T, near, strict=True):
        other_rows = near_rows[near_rows != row] if left is right else near_rows
        needed.append((products > products[list_of[other_rows]][:, None]).sum(1) + 1)
    ranks = np.concatenate(needed)
    return int(np.quantile(ranks, target, method="higher")) if len(ranks) else 1


def searching(
    left_vectors: np.ndarray,
    left_view: View,
    right_vectors: np.ndarray,
    right_view: View,
    index: Index,
    probes: int,
    k: int,
) -> Work[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Return the work that finds row numbers and scores of the neighbours of some left rows."""
    device = default_device()
    left = put_together(left_vectors, left_view)
    right = put_together(right_vectors, right_view)

    def work(rows: np.ndarray, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        queries = torch.from_numpy(_read(left, rows)).to(device)
        ids = torch.full((len(rows), k), -1, device=device)
        scores = torch.full((len(rows), k), -torch.inf, device=device)
        asking = _asking(queries, torch.from_numpy(index.centres).to(device), probes)
        for number, positions in enumerate(asking):
            within = index.lists.take(number)
            if len(positions) and len(within):
                vectors = torch.from_numpy(_read(right, within)).to(device)
                _look_into(queries, positions, vectors, torch.from_numpy(within).to(device), ids, scores)
            progress("search", (number + 1) / len(asking))
        return ids.cpu().numpy(), scores.cpu().numpy()

    return work


def _asking(queries: Tensor, centres: Tensor, probes: int) -> tuple[Tensor, ...]:
    """Return for each list the positions of the queries to search in it: those with its centre among their nearest."""
    nearest_lists = [
        (block @ centres.T).topk(probes, dim=1, sorted=False).indices for block in torch.split(queries, ROWS)
    ]
    order = torch.cat(nearest_lists).flatten().sort(stable=True)
    sizes = torch.bincount(order.values, minlength=len(centres)).tolist()
    return torch.split(order.indices // probes, sizes)


def _look_into(queries: Tensor, positions: Tensor, vectors: Tensor, rows: Tensor, ids: Tensor, scores: Tensor) -> None:
    """Update ids and scores (n, k), the best so far of these queries, with the vectors of a list."""
    for few in torch.split(positions, ROWS):
        candidates = torch.cat([scores[few], queries[few] @ vectors.T], 1)
        scores[few], places = candidates.topk(scores.shape[1], dim=1, sorted=False)
        ids[few] = torch.cat([ids[few], rows.expand(len(few), -1)], 1).gather(1, places)


def _read(vectors: Readable, rows: np.ndarray | slice) -> np.ndarray:
    """Return these rows in memory, float32."""
    return np.ascontiguousarray(vectors[rows], dtype=np.float32)
