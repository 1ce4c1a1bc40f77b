"""The pairs with the highest scores of all pairs, or with those closest to a threshold, in one exact pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work
from allpairs.learner.search.exact import Block, Pairs, as_tensor, blocks, pairs_from_tensors, parts_of, without
from allpairs.learner.search.rescored import NOTHING, Rescored

MOST_PAIRS = 20_000_000
SPARE_PAIRS = 1_000_000  # kept beyond the closest before they are sorted and cut
Columns = tuple[Tensor, Tensor, Tensor]  # rows of left and right, and scores
LOWEST = float(np.finfo(np.float32).min)  # below every score, above the minus infinity of pairs that do not exist


def best_pairs(
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    *,
    top: int | None = None,
    threshold: float = LOWEST,
    rescored: Rescored = NOTHING,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Pairs:
    """Return the `top` highest-scoring pairs, or all with score ≥ threshold, best first, ties in the order of the rows.

    rescored: pairs of rows of left and right that have another score than their product. Raises InputError if more
    than 20 million pairs would be kept.
    """
    query = _Query(torch.inf, top, threshold)
    return _closest(query, left, right, symmetric, None, device, rescored, progress=progress, engine=engine)


def most_uncertain(
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    threshold: float,
    n: int,
    known: np.ndarray | None = None,
    device: str | torch.device | None = None,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> Pairs:
    """Return the n pairs of all pairs whose score is closest to the threshold, the closest first.

    known: (k, 2) rows of left and right of pairs to leave out, each once, in a symmetric corpus with the first row
    below the second. One pass over all pairs: no neighbour search limits them, and only the closest are kept. Raises
    InputError if more than 20 million pairs are requested.
    """
    query = _Query(threshold, n)
    return _closest(query, left, right, symmetric, known, device, progress=progress, engine=engine)


@dataclass(frozen=True)
class _Query:
    """The n pairs with the score closest to a target, infinity for the highest; without n all from `low` up."""

    target: float
    n: int | None
    low: float = LOWEST

    def distance(self, scores: Tensor) -> Tensor:
        """Return how far each score is from the target, float64."""
        wide = scores.double()
        return -wide if self.target == torch.inf else (wide - self.target).abs_()


def _closest(query: _Query, left: np.ndarray, *more: Any, progress: Progress, engine: Engine | None) -> Pairs:
    """Return the pairs of the query: the closest of each part of the rows, and of those the closest.

    more: the other arguments of `_scanning`.
    """
    if query.n is not None and query.n > MOST_PAIRS:
        raise InputError(
            f"{query.n:,} pairs were requested, but one call returns at most {MOST_PAIRS:,}: ask for fewer"
        )
    arguments = (query, left, *more)
    closest = _Closest(query)
    for columns in (engine or default_engine()).map(_scanning, arguments, parts_of(len(left)), "search", progress):
        closest.add(*columns)
    return pairs_from_tensors(*closest.sorted())


def _scanning(
    query: _Query,
    left: np.ndarray,
    right: np.ndarray,
    symmetric: bool,
    known: np.ndarray | None,
    device: str | torch.device | None,
    rescored: Rescored = NOTHING,
) -> Work[slice, Columns]:
    """Return the work that finds the closest pairs of a part of the left rows."""
    queries = as_tensor(left, device)
    corpus = as_tensor(right, device)

    def work(part: slice, progress: Progress) -> Columns:
        closest = _Closest(query)
        block_stream = rescored.blocks(blocks(queries, corpus, symmetric, part))
        for block in without(block_stream, known):
            closest.look_at(block)
            progress("search", min(1.0, (block.end - part.start) / (part.stop - part.start)))
        return closest.sorted()

    return work


class _Closest:
    """The closest of the pairs added so far, on their device.

    Only scores inside a window that narrows with every cut are examined one by one.
    """

    def __init__(self, query: _Query) -> None:
        self.query = query
        self.low = query.low
        self.high = torch.inf
        self.parts: list[Columns] = []
        self.size = 0

    def look_at(self, block: Block) -> None:
        """Keep the pairs of the block that may be among the closest."""
        inside = block.scores >= self.low
        if self.high < torch.inf:
            inside &= block.scores <= self.high
        rows, columns = inside.nonzero(as_tuple=True)
        self.add(rows + block.row, columns + block.column, block.scores[rows, columns])

    def add(self, left: Tensor, right: Tensor, score: Tensor) -> None:
        """Keep these pairs until others are closer."""
        n = self.query.n
        self.parts.append((left, right, score))
        self.size += len(score)
        if n is None and self.size > MOST_PAIRS:
            raise InputError(f"more than {MOST_PAIRS:,} pairs score at least {self.low:g}: raise the threshold")
        if n is not None and self.size > max(4 * n, SPARE_PAIRS):
            self._cut(n)

    def sorted(self) -> Columns:
        """Return the closest pairs, the closest first, ties in the order of the rows."""
        if not self.parts:
            return torch.empty(0, dtype=torch.long), torch.empty(0, dtype=torch.long), torch.empty(0)
        left, right, score = (torch.cat(column) for column in zip(*self.parts, strict=True))
        distance = self.query.distance(score)
        n = self.query.n
        if n and n < len(score):  # a selection is cheaper than sorting them all
            near = distance <= distance.topk(n, largest=False, sorted=False).values.max()
            left = left[near]
            right = right[near]
            score = score[near]
            distance = distance[near]
        order = _lexsort(right, left, distance)[:n]
        return left[order], right[order], score[order]

    def _cut(self, n: int) -> None:
        """Keep the n closest so far, and narrow the window to the last of them."""
        left, right, score = self.sorted()
        self.parts = [(left, right, score)]
        self.size = len(score)
        if not n:
            return
        last = float(self.query.distance(score[-1:]))
        if self.query.target == torch.inf:
            self.low = -last
        else:  # rounded outwards: comparing in float32 must not lose a tie
            self.low = float(np.nextafter(np.float32(self.query.target - last), np.float32(-np.inf)))
            self.high = float(np.nextafter(np.float32(self.query.target + last), np.float32(np.inf)))


def _lexsort(*keys: Tensor) -> Tensor:
    """Return positions in ascending order of the last key, ties by the one before it, and so on."""
    order = torch.arange(len(keys[0]), device=keys[0].device)
    for key in keys:
        order = order[key[order].argsort(stable=True)]
    return order
