"""Exact nearest neighbours by FAISS, and all pairs in blocks of scores, without an array over all of them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import faiss
import numpy as np
import torch
from torch import Tensor

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import LOCAL, Engine, Work, slices

ROWS = 1024
COLUMNS = 8192
PARTS = 16  # blocks of rows in each part of a search or an evaluation
GPU_ROWS = 4096  # a GPU waits between small blocks
MOST_ON_GPU = 2048  # neighbours of a row that FAISS searches on a GPU
QUERIES = 4096  # rows searched between two reports: as many as FAISS multiplies at once
ALL_ROWS = slice(None)
SHARD = 262_144  # vectors in which a sample is searched at once
TARGET = 0.95  # share of the true neighbours that an approximate search tries to find
TRIED = 500  # rows whose true neighbours tell how far it has to look


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows with their cosine: three arrays of one length (int64, int64, float32)."""

    left: np.ndarray
    right: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def take(self, chosen: np.ndarray | slice) -> "Pairs":
        """Return the pairs at those positions (or where a mask is true), in that order."""
        return Pairs(self.left[chosen], self.right[chosen], self.score[chosen])

    def keys(self, rows: int) -> np.ndarray:
        """Return one int64 for each pair, equal for equal pairs; `rows` is above every row number."""
        return self.left * rows + self.right


def no_pairs() -> Pairs:
    """Return an empty set of pairs."""
    none = np.empty(0, dtype=np.int64)
    return Pairs(none, none, np.empty(0, dtype=np.float32))


class Sliceable(Protocol):
    """Vectors (n, d), read part by part."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice) -> np.ndarray: ...


class Neighbours(NamedTuple):
    """Rows near each row of a list, the nearest first: their numbers (n, k) int64 and scores (n, k) float32."""

    ids: np.ndarray
    scores: np.ndarray


@dataclass(frozen=True)
class Block:
    """Scores of the pairs rows × columns; non-existent pairs (self, mirrored) are minus infinity."""

    row: int
    column: int
    scores: Tensor

    @property
    def end(self) -> int:
        """The row after its last one."""
        return self.row + len(self.scores)


def parts_of(n: int) -> list[slice]:
    """Return slices of n rows, each some blocks high: the parts of a computation over all pairs."""
    return slices(n, PARTS * ROWS)


def blocks(left: Tensor, right: Tensor, symmetric: bool, part: slice = ALL_ROWS) -> Iterator[Block]:
    """Yield all scores of these rows, block by block; in a symmetric corpus (left is right) only row < column."""
    rows = _rows(left)
    start, end, _ = part.indices(len(left))
    for row in range(start, end, rows):
        first = row if symmetric else 0
        for column in range(first, len(right), COLUMNS):
            scores = left[row : min(row + rows, end)] @ right[column : column + COLUMNS].T
            if symmetric and column < row + rows:
                # keep what is strictly above the diagonal of the whole matrix
                mirrored = torch.ones_like(scores, dtype=torch.bool).tril_(row - column)
                scores.masked_fill_(mirrored, -torch.inf)
            yield Block(row, column, scores)


def _rows(vectors: Tensor) -> int:
    """Return the number of rows of a block on the vectors' device."""
    return GPU_ROWS if vectors.is_cuda else ROWS


def without(all_blocks: Iterable[Block], pairs: np.ndarray | None) -> Iterator[Block]:
    """Yield the blocks with the scores of these pairs (k, 2), if any, at minus infinity; each is listed once."""
    return rescored_blocks(all_blocks, pairs, None)


def rescored_blocks(
    all_blocks: Iterable[Block], pairs: np.ndarray | None, scores: np.ndarray | None
) -> Iterator[Block]:
    """Yield the blocks with these scores (k,), or minus infinity, at these pairs (k, 2), each listed once."""
    if pairs is None or not len(pairs):
        yield from all_blocks
        return
    order = np.argsort(pairs[:, 0], kind="stable")
    rows, columns = pairs[order].T
    values = torch.from_numpy(np.full(len(pairs), -np.inf, dtype=np.float32) if scores is None else scores[order])
    for block in all_blocks:
        first, last = np.searchsorted(rows, [block.row, block.end])
        block_columns = columns[first:last]
        inside = first + np.flatnonzero(
            (block_columns >= block.column) & (block_columns < block.column + block.scores.shape[1])
        )
        places = rows[inside] - block.row, columns[inside] - block.column
        block.scores[places] = values[inside].to(block.scores.device)
        yield block


def pairs_numbered(numbers: np.ndarray, rows: int, columns: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and columns (k,) of the pairs with these numbers, from 0, row by row.

    In a symmetric corpus a row is paired with the columns after it.
    """
    if not symmetric:
        left, right = np.divmod(numbers, columns)
        return left, right
    starts = np.r_[0, np.cumsum(np.arange(rows - 1, 0, -1))]  # the number of each row's first pair
    left = np.searchsorted(starts, numbers, side="right") - 1
    return left, numbers - starts[left] + left + 1


def count_pairs(left: int, right: int, symmetric: bool) -> int:
    """Return the number of pairs: n(n-1)/2 in a symmetric corpus, left × right otherwise."""
    return left * (left - 1) // 2 if symmetric else left * right


def as_tensor(vectors: np.ndarray, device: str | torch.device | None = None) -> Tensor:
    """Return the vectors as a float32 tensor on that device, or else on the default one."""
    return torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32)).to(device or default_device())


def nearest(
    left: np.ndarray,
    right: np.ndarray,
    k: int,
    symmetric: bool,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Pairs:
    """Pair each left row with its k nearest right rows, without itself; in a symmetric corpus left < right, once.

    left: (n, d) and right: (m, d) unit vectors; in a symmetric corpus both are the same array.
    """
    return neighbour_pairs(*_nearest(left, right, k + symmetric, progress, engine), symmetric)


def neighbours(
    left: np.ndarray,
    right: np.ndarray,
    k: int,
    symmetric: bool,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Neighbours:
    """Return the k right rows nearest to each left row, without itself if symmetric; ties in the order of the rows.

    Fewer columns if there are fewer right rows.
    """
    ids, scores = _nearest(left, right, k + symmetric, progress, engine)
    if symmetric and len(ids):
        is_other = ids != np.arange(len(ids))[:, None]
        is_other[is_other.all(axis=1), -1] = False  # equal rows have crowded the row itself out
        ids, scores = (column[is_other].reshape(len(ids), -1) for column in (ids, scores))
    tied = np.flatnonzero((scores[:, 1:] == scores[:, :-1]).any(axis=1))  # the search has sorted all the rest
    order = np.lexsort((ids[tied], -scores[tied]))
    ids[tied] = np.take_along_axis(ids[tied], order, 1)
    return Neighbours(ids, scores)


def nearest_scores(
    left: np.ndarray, right: np.ndarray, k: int, symmetric: bool, progress: Progress = no_progress
) -> np.ndarray:
    """Return only the scores of `neighbours`, (n, k) float32."""
    return neighbours(left, right, k, symmetric, progress).scores


def nearest_of_sample(queries: np.ndarray, right: Sliceable, k: int, progress: Progress = no_progress) -> np.ndarray:
    """Return the k right rows nearest to each of some queries, (n, k) int64, in no order.

    A shard of the right vectors, which may lie on disk, is in memory at a time.
    """
    ids = np.empty((len(queries), 0), np.int64)
    scores = np.empty((len(queries), 0), np.float32)
    for shard in slices(len(right), SHARD):
        near = neighbours(queries, right[shard], k, False, engine=LOCAL)
        ids, scores = best_of_each(np.hstack([ids, near.ids + shard.start]), np.hstack([scores, near.scores]), k)
        progress("search", shard.stop / len(right))
    return ids


def _nearest(
    left: np.ndarray, right: np.ndarray, k: int, progress: Progress, engine: Engine | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return row numbers and scores, each (n, k), of the k right rows nearest to each left row."""
    count = min(k, len(right))
    parts = parts_of(len(left))
    ids = np.empty((len(left), count), np.int64)
    scores = np.empty((len(left), count), np.float32)
    if not count:
        return ids, scores
    results = (engine or default_engine()).map(_searching, (left, right, count), parts, "search", progress)
    for part, (near, score) in zip(parts, results, strict=True):
        ids[part] = near
        scores[part] = score
    return ids, scores


def _searching(left: np.ndarray, right: np.ndarray, k: int) -> Work[slice, tuple[np.ndarray, np.ndarray]]:
    """Return the work that runs `_nearest` on a part of the left rows."""
    index = flat_index(right, k)

    def work(part: slice, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
        part_rows = left[part]
        results = []
        for query_rows in slices(len(part_rows), QUERIES):
            results.append(index.search(np.ascontiguousarray(part_rows[query_rows], dtype=np.float32), k))
            progress("search", query_rows.stop / len(part_rows))
        scores, ids = (np.concatenate(arrays) for arrays in zip(*results, strict=True))
        return ids, scores

    return work


def flat_index(vectors: np.ndarray, k: int) -> faiss.Index:
    """Return FAISS's exact index of these vectors (m, d) by inner product, on the GPUs if it can search k there."""
    index: faiss.Index = faiss.IndexFlatIP(vectors.shape[1])
    if search_device() == "cuda" and k <= MOST_ON_GPU:
        index = faiss.index_cpu_to_all_gpus(index)
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return index


def search_device() -> str:
    """Return where FAISS searches: "cuda" if its wheel is the one for GPUs and finds any, else "cpu"."""
    return "cuda" if hasattr(faiss, "get_num_gpus") and faiss.get_num_gpus() > 0 else "cpu"


def neighbour_pairs(ids: np.ndarray, scores: np.ndarray, symmetric: bool) -> Pairs:
    """Return the neighbours (n, k) of each row as pairs; in a symmetric corpus each once, without self pairs.

    Ids of -1 are dropped: FAISS returns them when there are no more neighbours.
    """
    near = torch.from_numpy(ids)
    score = torch.from_numpy(scores)
    rows = torch.arange(len(near)).repeat_interleave(near.shape[1])
    columns = near.flatten()
    valid = columns >= 0
    if symmetric:
        valid &= rows != columns
    left = rows[valid]
    right = columns[valid]
    score = score.flatten()[valid]
    return pairs_from_tensors(*(_each_once(left, right, score, len(near)) if symmetric else (left, right, score)))


def best_of_each(ids: np.ndarray, scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k candidates (n, m) with the highest scores in each row, in no order: their ids and scores (n, k)."""
    k = min(k, scores.shape[1])
    chosen = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    return np.take_along_axis(ids, chosen, 1), np.take_along_axis(scores, chosen, 1)


def _each_once(left: Tensor, right: Tensor, score: Tensor, rows: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return every unordered pair once, as left < right, in the order of the rows."""
    keys, order = torch.sort(torch.minimum(left, right) * rows + torch.maximum(left, right), stable=True)
    first = torch.ones_like(keys, dtype=torch.bool)
    first[1:] = keys[1:] != keys[:-1]
    keys = keys[first]
    score = score[order[first]]
    return keys // rows, keys % rows, score


def pairs_from_tensors(left: Tensor, right: Tensor, score: Tensor) -> Pairs:
    """Return the pairs of three tensors on any device."""
    return Pairs(left.cpu().numpy(), right.cpu().numpy(), score.cpu().numpy())
