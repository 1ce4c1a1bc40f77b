"""Exact nearest neighbours and best pairs by blocked matrix products: never an array over all pairs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from db.domain import InputError, Progress, no_progress
from learner.device import default_device

ROWS, COLUMNS = 1024, 8192
WIDE = 32_768  # columns of a block in which the best of each row are looked for: fewer blocks, fewer merges
MOST_PAIRS = 20_000_000
SPARE_PAIRS = 1_000_000  # kept beyond the best before they are sorted and cut
LOWEST = -2.0  # below every cosine (rounding puts some below -1), above the minus infinity of pairs that do not exist


@dataclass(frozen=True)
class Pairs:
    """Pairs of rows with their cosine: three arrays of one length (int64, int64, float32)."""

    left: np.ndarray
    right: np.ndarray
    score: np.ndarray

    def __len__(self) -> int:
        return len(self.left)

    def take(self, chosen: np.ndarray) -> "Pairs":
        """The pairs at those positions (or where a mask is true), in that order."""
        return Pairs(self.left[chosen], self.right[chosen], self.score[chosen])

    def keys(self, rows: int) -> np.ndarray:
        """One int64 for each pair, equal for equal pairs; `rows` is above every row number."""
        return self.left * rows + self.right


@dataclass(frozen=True)
class Block:
    """Scores of the pairs rows × columns; pairs that do not exist (self, mirrored) are minus infinity."""

    row: int
    column: int
    scores: Tensor


def blocks(left: Tensor, right: Tensor, symmetric: bool) -> Iterator[Block]:
    """All scores, block by block; in a symmetric corpus (left is right) only pairs with row < column."""
    for row in range(0, len(left), ROWS):
        first = row if symmetric else 0
        for column in range(first, len(right), COLUMNS):
            scores = left[row : row + ROWS] @ right[column : column + COLUMNS].T
            if symmetric and column < row + ROWS:
                # keep strictly above the diagonal of the whole matrix
                mirrored = torch.ones_like(scores, dtype=torch.bool).tril_(row - column)
                scores.masked_fill_(mirrored, -torch.inf)
            yield Block(row, column, scores)


def without(all_blocks: Iterable[Block], pairs: np.ndarray) -> Iterator[Block]:
    """The blocks with the scores of these pairs (k, 2), each once, at minus infinity."""
    rows, columns = pairs[np.argsort(pairs[:, 0], kind="stable")].T
    for block in all_blocks:
        near = slice(*np.searchsorted(rows, [block.row, block.row + ROWS]))
        here = (columns[near] >= block.column) & (columns[near] < block.column + block.scores.shape[1])
        block.scores[rows[near][here] - block.row, columns[near][here] - block.column] = -torch.inf
        yield block


def pairs_numbered(numbers: np.ndarray, rows: int, columns: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns (k,) of the pairs with these numbers, from 0: row by row; symmetric: columns after the row."""
    if not symmetric:
        left, right = np.divmod(numbers, columns)
        return left, right
    starts = np.r_[0, np.cumsum(np.arange(rows - 1, 0, -1))]  # the number of each row's first pair
    left = np.searchsorted(starts, numbers, side="right") - 1
    return left, numbers - starts[left] + left + 1


def count_pairs(left: int, right: int, symmetric: bool) -> int:
    """The number of pairs: n(n-1)/2 in a symmetric corpus, left × right otherwise."""
    return left * (left - 1) // 2 if symmetric else left * right


def as_tensor(vectors: np.ndarray, device: str | torch.device | None = None) -> Tensor:
    """The vectors as a float32 tensor on that device, on the default one where none is given."""
    return torch.from_numpy(np.ascontiguousarray(vectors, dtype=np.float32)).to(device or default_device())


def nearest(
    left: np.ndarray,
    right: np.ndarray,
    k: int,
    symmetric: bool,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
) -> Pairs:
    """Each left row with its k nearest right rows, itself left out; in a symmetric corpus each pair once, left < right.

    left: (n, d) and right: (m, d) unit vectors; in a symmetric corpus both are the same array.
    """
    queries, corpus = as_tensor(left, device), as_tensor(right, device)
    wanted = min(k + symmetric, len(corpus))
    ids = np.empty((len(queries), wanted), dtype=np.int64)
    scores = np.empty((len(queries), wanted), dtype=np.float32)
    for row in range(0, len(queries), ROWS):
        best = _best_of_rows(queries[row : row + ROWS], corpus, wanted)
        scores[row : row + ROWS], ids[row : row + ROWS] = best[0].cpu().numpy(), best[1].cpu().numpy()
        progress("search", min(1.0, (row + ROWS) / len(queries)))
    return as_pairs(ids, scores, symmetric)


def as_pairs(ids: np.ndarray, scores: np.ndarray, symmetric: bool) -> Pairs:
    """The neighbours (n, k) of each row as pairs; in a symmetric corpus each once, without self pairs.

    An id of -1 means that no neighbour was found (FAISS says so when they run out), and is dropped.
    """
    rows = np.repeat(np.arange(len(ids)), ids.shape[1])
    found = Pairs(rows, ids.ravel(), scores.ravel())
    found = found.take(found.right >= 0)
    return _each_once(found.take(found.left != found.right), len(ids)) if symmetric else found


def _best_of_rows(queries: Tensor, corpus: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Scores and column numbers, each (rows, k), of the k best columns: a running top-k over column blocks."""
    best: tuple[Tensor, Tensor] | None = None
    for column in range(0, len(corpus), WIDE):
        scores = queries @ corpus[column : column + WIDE].T
        values, indices = scores.topk(min(k, scores.shape[1]), dim=1, sorted=False)
        indices = indices + column
        if best is not None:
            values, indices = torch.cat([best[0], values], 1), torch.cat([best[1], indices], 1)
            values, order = values.topk(min(k, values.shape[1]), dim=1, sorted=False)
            indices = indices.gather(1, order)
        best = values, indices
    assert best is not None
    return best


def _each_once(pairs: Pairs, rows: int) -> Pairs:
    """Every unordered pair once, as left < right."""
    low, high = np.minimum(pairs.left, pairs.right), np.maximum(pairs.left, pairs.right)
    _, first = np.unique(low * rows + high, return_index=True)
    return Pairs(low[first], high[first], pairs.score[first])


def best_pairs(
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    *,
    top: int | None = None,
    threshold: float = LOWEST,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
) -> Pairs:
    """The `top` highest-scoring pairs, or all pairs with score ≥ threshold, best first.

    Raises InputError when more than 20 million pairs would be kept.
    """
    if top is not None and top > MOST_PAIRS:
        raise InputError(f"{top:,} pairs are asked for; the most that one call returns is {MOST_PAIRS:,}")
    queries, corpus = as_tensor(left, device), as_tensor(right, device)
    kept: list[Pairs] = []
    size, floor = 0, threshold
    for block in blocks(queries, corpus, symmetric):
        found = _above(block, floor)
        kept.append(found)
        size += len(found)
        if top is not None and size > max(4 * top, SPARE_PAIRS):
            kept = [_sorted(kept, top)]
            size, floor = len(kept[0]), float(kept[0].score[-1])
        elif top is None and size > MOST_PAIRS:
            raise InputError(f"more than {MOST_PAIRS:,} pairs score at least {threshold:g}: raise the threshold")
        progress("search", min(1.0, (block.row + ROWS) / len(queries)))
    return _sorted(kept, top)


def _above(block: Block, floor: float) -> Pairs:
    rows, columns = (block.scores >= floor).nonzero(as_tuple=True)
    scores = block.scores[rows, columns]
    return Pairs(rows.cpu().numpy() + block.row, columns.cpu().numpy() + block.column, scores.cpu().numpy())


def _sorted(parts: list[Pairs], top: int | None) -> Pairs:
    """All parts as one, best first, ties in the order of the rows, cut at `top`."""
    if not parts:
        empty = np.empty(0, dtype=np.int64)
        return Pairs(empty, empty, np.empty(0, dtype=np.float32))
    whole = Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("left", "right", "score")))
    return whole.take(np.lexsort((whole.right, whole.left, -whole.score))[:top])
