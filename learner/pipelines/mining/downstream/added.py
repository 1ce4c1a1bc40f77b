"""Pairs that a model trains on besides the seed."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from allpairs.learner.pipelines.mining.inputs import MiningTexts

SEED_ONLY = "seed only"
BIENCODER = "bi-encoder"
FULL = "full"
GENERATED = "generated"
GOLD = "gold"


@dataclass(frozen=True)
class Added:
    """Pairs (n, 2) as rows of both lists; written: (side x or y, n texts) that replace the texts of that side."""

    method: str
    texts: MiningTexts
    rows: np.ndarray
    written: tuple[str, list[str]] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, n: int) -> "Added":
        """Return the first n pairs."""
        written = self.written and (self.written[0], self.written[1][:n])
        return Added(self.method, self.texts, self.rows[:n], written)

    @cached_property
    def x(self) -> list[str]:
        """The first texts."""
        return self._side("x", 0)

    @cached_property
    def y(self) -> list[str]:
        """The second texts."""
        return self._side("y", 1)

    def _side(self, side: str, column: int) -> list[str]:
        if self.written is not None and self.written[0] == side:
            return self.written[1]
        texts: list[str] = getattr(self.texts, side).take(self.rows[:, column])
        return texts
