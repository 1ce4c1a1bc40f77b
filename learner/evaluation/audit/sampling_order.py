"""Sampling orders: the pairs of each stratum in the order in which audits take them.

Every pair has a permanent random number, a keyed hash of its two items. A stratum's sampling order sorts its pairs by
that number, so that designs made under successive models draw the same pairs where they can.
"""

from dataclasses import dataclass

import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.audit.strata import Bands
from allpairs.learner.search.exact import ROWS, Block, as_tensor, blocks, pairs_numbered

PART = 10_000  # pairs whose vectors are copied at a time: 70 MB
DEEP = 4_000  # pairs of a band in its sampling order: more than anyone labels
BELOW = 200_000  # pairs drawn at random for the bands below the top, of which the smallest gets about 2,000


@dataclass(frozen=True)
class SamplingOrder:
    """The head of each stratum's sampling order, stratum by stratum: rows of left and right (int64), stratum, score."""

    left: np.ndarray
    right: np.ndarray
    stratum: np.ndarray
    score: np.ndarray


@dataclass(frozen=True)
class Sides:
    """The two sides of all pairs: vectors (n, d) and (m, d) whose products are scores, and the items' ids, int64."""

    left: np.ndarray
    right: np.ndarray
    left_ids: np.ndarray
    right_ids: np.ndarray
    symmetric: bool

    def numbers(self, rows: np.ndarray, columns: np.ndarray, seed: int) -> np.ndarray:
        """Return the permanent random number of each pair, (n,) float64 from 0 to 1."""
        return pair_numbers(self.left_ids[rows], self.right_ids[columns], seed)

    def scores(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the score of each pair, (n,) float32."""
        parts = [slice(start, start + PART) for start in range(0, max(len(rows), 1), PART)]
        return np.concatenate([np.einsum("nd,nd->n", self.left[rows[at]], self.right[columns[at]]) for at in parts])


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


def make_sampling_order(sides: Sides, bands: Bands, seed: int, progress: Progress = no_progress) -> SamplingOrder:
    """Return the sampling orders of all bands: of the top found in one pass over all pairs, of the others at random."""
    bound = _bounds(bands)
    floor = float(bands.edges[bands.top - 1])
    parts = []
    for block in blocks(as_tensor(sides.left), as_tensor(sides.right), sides.symmetric):
        parts.append(_low_numbers(sides, block, floor, bands, bound, seed))
        progress("draw", min(1.0, (block.row + ROWS) / len(sides.left)))
    parts.append(_below(sides, bands, seed))
    rows, columns, stratum, score, number = (np.concatenate(column) for column in zip(*parts, strict=True))
    # A pair on the edge of the top, which products of other sizes round differently, may be in both parts.
    once = np.sort(np.unique(rows * len(sides.right) + columns, return_index=True)[1])
    rows, columns, stratum, score, number = (column[once] for column in (rows, columns, stratum, score, number))
    order = np.lexsort((number, stratum))
    place = np.arange(len(order)) - np.searchsorted(stratum[order], stratum[order])  # within its stratum
    kept = order[place < DEEP]
    return SamplingOrder(rows[kept], columns[kept], stratum[kept], score[kept])


def _bounds(bands: Bands) -> np.ndarray:
    """Return bounds on the numbers at the head of a band's sampling order: six standard deviations above its share."""
    share = DEEP / np.maximum(bands.sizes, 1)
    return np.minimum(1.0, share + 6 * np.sqrt(share / np.maximum(bands.sizes, 1)))


def _low_numbers(
    sides: Sides, block: Block, floor: float, bands: Bands, bound: np.ndarray, seed: int
) -> tuple[np.ndarray, ...]:
    at = (block.scores >= floor).nonzero(as_tuple=True)
    score = block.scores[at].cpu().numpy()
    rows, columns = at[0].cpu().numpy() + block.row, at[1].cpu().numpy() + block.column
    stratum = np.minimum(bands.place(score), bands.top - 1)  # guards against rounding at the floor
    number = sides.numbers(rows, columns, seed)
    low = number <= bound[stratum]
    return rows[low], columns[low], stratum[low], score[low], number[low]


def _below(sides: Sides, bands: Bands, seed: int) -> tuple[np.ndarray, ...]:
    """Return pairs of the bands below the top, drawn uniformly from all pairs: the same ones under every model."""
    rng = np.random.default_rng(seed)
    wanted = min(bands.pairs, BELOW) if bands.top < len(bands.edges) else 0
    numbers = rng.choice(bands.pairs, size=wanted, replace=False)
    rows, columns = pairs_numbered(numbers, len(sides.left), len(sides.right), sides.symmetric)
    score = sides.scores(rows, columns)
    below = np.nonzero(score < bands.edges[bands.top - 1])[0]
    rows, columns, score = rows[below], columns[below], score[below]
    return rows, columns, np.maximum(bands.place(score), bands.top), score, sides.numbers(rows, columns, seed)
