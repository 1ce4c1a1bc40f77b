"""Rows of two views, mixed one by one at a fixed rate.

Source: Ju, Yang and Wang (2021), section 2: a row is of the second view with the probability of the mixing rate; a
ranking row is one query with one passage, right or wrong, not a triple.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from allpairs.learner.backbones.reranking.training import Row

BLOCK = 4_096  # rows whose views are drawn together


def of_second_view(n: int, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Return whether each of n rows is of the second view, (n,) bool."""
    return rng.random(n) < rate


def passes(n: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield numbers below n endlessly, in random order: all of them before any repeats."""
    while True:
        yield from rng.permutation(n).tolist()


def streams_of(
    ranking: tuple[int, Callable[[int], Row]],
    second: tuple[int, Callable[[int], Row]] | None,
    rate: float,
    steps: int,
    write_first: bool,
    seed: Sequence[int],
) -> list[tuple[Iterator[Row], int]]:
    """Return endless rows and their number of steps, in the order in which they train; arguments as of `mixed`.

    write_first: the second view's share of the steps comes before all ranking, and not among it.
    """
    if second is None or not write_first:
        return [(mixed(ranking, second, rate, seed), steps)]
    first = round(rate * steps)
    return [(mixed(second, None, 0.0, seed), first), (mixed(ranking, None, 0.0, seed), steps - first)]


def mixed(
    ranking: tuple[int, Callable[[int], Row]],
    second: tuple[int, Callable[[int], Row]] | None,
    rate: float,
    seed: Sequence[int],
) -> Iterator[Row]:
    """Yield rows endlessly. ranking, second: the view's number of rows, and a function from number to row.

    The choice of view and the order within each view are drawn separately, so the ranking rows come in the same order
    at every rate.
    """
    views, first, other = (np.random.default_rng([*seed, part]) for part in range(3))
    in_order, beside = passes(ranking[0], first), passes(second[0], other) if second else iter(())
    while True:
        for is_second in of_second_view(BLOCK, rate if second else 0.0, views).tolist():
            if is_second and second:
                yield second[1](next(beside))
            else:
                yield ranking[1](next(in_order))
