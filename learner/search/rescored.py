"""Pairs that have another score than their vectors' product: the best ones, scored again by a second stage."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allpairs.learner.search.exact import Block, Pairs, no_pairs, rescored_blocks


@dataclass(frozen=True)
class Rescored:
    """Pairs of rows with their new scores, each once, in a symmetric dataset with left < right.

    rows: is above every row number.
    """

    pairs: Pairs
    rows: int

    def __len__(self) -> int:
        return len(self.pairs)

    def replace(self, left: np.ndarray, right: np.ndarray, score: np.ndarray) -> np.ndarray:
        """Return the scores (n,) of these pairs of rows, with those that are scored again replaced."""
        keys, new_scores = self._sorted
        if not len(keys):
            return score
        pair_keys = left * self.rows + right
        place = np.minimum(np.searchsorted(keys, pair_keys), len(keys) - 1)
        replaced: np.ndarray = np.where(keys[place] == pair_keys, new_scores[place], score).astype(score.dtype)
        return replaced

    def blocks(self, all_blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of all pairs with the new scores in them."""
        return rescored_blocks(all_blocks, np.column_stack([self.pairs.left, self.pairs.right]), self.pairs.score)

    def within(self, left: np.ndarray, right: np.ndarray) -> "Rescored":
        """Return those between these rows (ascending), as positions in them."""
        pairs = self.pairs.take(np.isin(self.pairs.left, left) & np.isin(self.pairs.right, right))
        placed = Pairs(np.searchsorted(left, pairs.left), np.searchsorted(right, pairs.right), pairs.score)
        return Rescored(placed, max(len(left), len(right), 1))

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, np.ndarray]:
        """The pairs' keys, ascending, and their scores in that order."""
        keys = self.pairs.keys(self.rows)
        order = np.argsort(keys)
        return keys[order], self.pairs.score[order]


NOTHING = Rescored(no_pairs(), 1)
