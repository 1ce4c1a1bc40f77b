"""Sampling orders: the pairs of each stratum in the order in which audits take them.

Every pair has a permanent random number, a keyed hash of its two items. A stratum's sampling order sorts its pairs by
that number, so that designs made under successive models draw the same pairs where they can.
"""

from dataclasses import dataclass

import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.audit.strata import Strata
from allpairs.learner.search.exact import ROWS, Block, pairs_numbered

DEEP = 4_000  # pairs of a stratum in its sampling order: more than anyone labels
BELOW = 1_000_000  # pairs drawn at random for the strata below the top, of which the smallest gets about 500


@dataclass(frozen=True)
class SamplingOrder:
    """The head of each stratum's sampling order, stratum by stratum: rows of left and right (int64), stratum, score."""

    left: np.ndarray
    right: np.ndarray
    stratum: np.ndarray
    score: np.ndarray


def make_sampling_order(sides: Sides, strata: Strata, seed: int, progress: Progress = no_progress) -> SamplingOrder:
    """Return the sampling orders of all strata: the top's by one pass over all pairs, the others' at random."""
    bound = _bounds(strata)
    parts = []
    for block in sides.blocks():
        parts.append(_low_numbers(sides, block, strata, bound, seed))
        progress("draw", min(1.0, (block.row + ROWS) / len(sides.left)))
    parts.append(_below(sides, strata, seed))
    rows, columns, stratum, score, number = (np.concatenate(column) for column in zip(*parts, strict=True))
    # A pair on the edge of the top, which products of other sizes round differently, may be in both parts.
    once = np.sort(np.unique(rows * len(sides.right) + columns, return_index=True)[1])
    rows, columns, stratum, score, number = (column[once] for column in (rows, columns, stratum, score, number))
    order = np.lexsort((number, stratum))
    place = np.arange(len(order)) - np.searchsorted(stratum[order], stratum[order])  # within its stratum
    head = order[place < DEEP]
    return SamplingOrder(rows[head], columns[head], stratum[head], score[head])


def _bounds(strata: Strata) -> np.ndarray:
    """Return bounds on the numbers at the head of a sampling order: six standard deviations above its share."""
    share = DEEP / np.maximum(strata.sizes, 1)
    return np.minimum(1.0, share + 6 * np.sqrt(share / np.maximum(strata.sizes, 1)))


def _low_numbers(sides: Sides, block: Block, strata: Strata, bound: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    places = (block.scores >= strata.floor).nonzero(as_tuple=True)
    score = block.scores[places].cpu().numpy()
    rows = places[0].cpu().numpy() + block.row
    columns = places[1].cpu().numpy() + block.column
    number = sides.numbers(rows, columns, seed)
    low = number <= bound[strata.place(score)]  # the first of a divided band's strata has the higher bound
    rows = rows[low]
    columns = columns[low]
    score = score[low]
    number = number[low]
    similarity = sides.similarities(rows, columns) if strata.divided else None
    stratum = np.minimum(strata.place(score, similarity), strata.top - 1)  # guards against rounding at the floor
    low = number <= bound[stratum]
    return rows[low], columns[low], stratum[low], score[low], number[low]


def _below(sides: Sides, strata: Strata, seed: int) -> tuple[np.ndarray, ...]:
    """Return pairs of the strata below the top, drawn uniformly from all pairs: the same ones under every model."""
    rng = np.random.default_rng(seed)
    size = min(sides.pairs, BELOW) if strata.top < len(strata.sizes) else 0
    numbers = rng.choice(sides.pairs, size=size, replace=False)
    rows, columns = pairs_numbered(numbers, len(sides.left), len(sides.right), sides.symmetric)
    score = sides.scores(rows, columns)
    below = np.nonzero((score < strata.floor) & sides.unknown(rows, columns))[0]
    rows = rows[below]
    columns = columns[below]
    score = score[below]
    similarity = sides.similarities(rows, columns) if strata.divided else None
    stratum = np.maximum(strata.place(score, similarity), strata.top)
    return rows, columns, stratum, score, sides.numbers(rows, columns, seed)
