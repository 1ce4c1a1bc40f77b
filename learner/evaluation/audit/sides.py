"""The two sides of all pairs of an audit: their scores, lexical similarity, and permanent random numbers."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from allpairs.learner.search.exact import Block, as_tensor, blocks, count_pairs, without
from allpairs.learner.search.rescored import NOTHING, Rescored

PART = 10_000  # pairs whose vectors are copied at a time: 70 MB


@dataclass(frozen=True)
class Sides:
    """The two sides of all pairs: vectors (n, d) and (m, d) whose products are scores, and the items' ids, int64.

    lexical: vectors of both sides whose products are lexical similarities, if the texts are known. known: (k, 2) rows
    of the pairs that need no audit, since their labels came with the data. rescored: pairs of rows of both sides that
    have another score than their product.
    """

    left: np.ndarray
    right: np.ndarray
    left_ids: np.ndarray
    right_ids: np.ndarray
    symmetric: bool
    lexical: tuple[np.ndarray, np.ndarray] | None = None
    known: np.ndarray | None = None
    rescored: Rescored = NOTHING

    @property
    def pairs(self) -> int:
        """All pairs, the known ones too."""
        return count_pairs(len(self.left), len(self.right), self.symmetric)

    def blocks(self) -> Iterator[Block]:
        """Yield the scores of all pairs, block by block; those of known pairs are minus infinity."""
        scored = blocks(as_tensor(self.left), as_tensor(self.right), self.symmetric)
        return without(self.rescored.blocks(scored), self.known)

    def unknown(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return which of the pairs (n,) are not known, (n,) bool."""
        known = np.empty((0, 2), dtype=np.int64) if self.known is None else self.known
        return ~np.isin(rows * len(self.right) + columns, known[:, 0] * len(self.right) + known[:, 1])

    def numbers(self, rows: np.ndarray, columns: np.ndarray, seed: int) -> np.ndarray:
        """Return the permanent random number of each pair, (n,) float64 from 0 to 1."""
        return pair_numbers(self.left_ids[rows], self.right_ids[columns], seed)

    def scores(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the score of each pair, (n,) float32."""
        return self.rescored.replace(rows, columns, _products(self.left, self.right, rows, columns))

    def similarities(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray | None:
        """Return the lexical similarity of each pair, (n,) float32, if it is known."""
        return None if self.lexical is None else _products(*self.lexical, rows, columns)


def _products(left: np.ndarray, right: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    parts = [slice(start, start + PART) for start in range(0, max(len(rows), 1), PART)]
    return np.concatenate([np.einsum("nd,nd->n", left[rows[part]], right[columns[part]]) for part in parts])


def pair_numbers(left: np.ndarray, right: np.ndarray, seed: int) -> np.ndarray:
    """Return a number from 0 to 1 for each pair of ids (int64), float64: uniform, the same for the same seed.

    The mixing function is that of SplitMix64 (Steele, Lea and Flood 2014), applied to one id after the other.
    """
    mixed = np.full(len(left), seed, dtype=np.uint64)
    for ids in (left, right):
        mixed = _mix(mixed ^ (ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)))
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53


def _mix(z: np.ndarray) -> np.ndarray:
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
