"""Rows of two views, mixed one by one at a fixed rate.

Source: Ju, Yang and Wang (2021), section 2: a row is of the second view with the probability of the mixing rate; a
ranking row is one query with one passage, right or wrong, not a triple.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.learner.backbones.reranking.training import Row

BLOCK = 4_096  # rows whose views are drawn together
View = tuple[int, Callable[[int], Row]]  # the number of a view's rows, and a function from number to row


def of_second_view(n: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return whether each of n rows is of the second view, (n,) bool."""
    return rng.random(n) < rate


def passes(n: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield numbers below n endlessly, in random order: all of them before any repeats."""
    while True:
        yield from rng.permutation(n).tolist()


def streams_of(
    ranking: View, second: View | None, rate: float, steps: int, write_first: bool, seed: Sequence[int]
) -> list[tuple["Mixed", int]]:
    """Return endless rows and their number of steps, in the order in which they train; arguments as of `Mixed`.

    write_first: the second view's share of the steps comes before all ranking, and not among it.
    """
    if second is None or not write_first:
        return [(Mixed(ranking, second, rate, seed), steps)]
    first = round(rate * steps)
    return [(Mixed(second, None, 0.0, seed), first), (Mixed(ranking, None, 0.0, seed), steps - first)]


@dataclass(frozen=True)
class Mixed:
    """Rows without end, the same whenever they are read.

    The choice of view and the order within each view are drawn separately, so the ranking rows come in the same order
    at every rate.
    """

    ranking: View
    second: View | None
    rate: float
    seed: Sequence[int]

    def __iter__(self) -> Iterator[Row]:
        views, first, second_rng = (np.random.default_rng([*self.seed, part]) for part in range(3))
        (n, rank), (m, write) = self.ranking, self.second or (0, None)
        in_order = passes(n, first)
        second_order = passes(m, second_rng)
        while True:
            for is_second in of_second_view(BLOCK, self.rate if write else 0.0, views).tolist():
                yield write(next(second_order)) if write and is_second else rank(next(in_order))
