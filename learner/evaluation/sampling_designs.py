"""Which negatives to score: the near + random design of Mussmann, Jia and Liang (2020), and strata of a cheap score.

Both return strata of negatives whose sizes are exact. Any scorer will do; the cheap score is the cosine of a
pre-trained encoder.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.evaluation.importance_sampling import Stratum
from allpairs.learner.search.exact import ROWS, Block, Pairs, as_tensor, blocks, count_pairs, pairs_numbered, without
from allpairs.learner.search.inner_product import Readable
from allpairs.learner.search.nearest import near_pairs

Score = Callable[[np.ndarray, np.ndarray], np.ndarray]  # rows of left, rows of right -> scores, one for each pair
NEAR_RANDOM = "near-random"
STRATIFIED = "stratified"
NEAR = 100  # neighbours whose negatives are enumerated (Mussmann, Jia and Liang 2020, released code)
TOP = 1_024  # size of the highest stratum
BULK = 0.02  # share of pairs above the lowest stratum
CHUNK = 100_000  # pairs whose vectors are in memory at once


@dataclass(frozen=True)
class Population:
    """All pairs of left and right: vectors of the cheap score (n, d) and (m, d), and the positives (k, 2) by row."""

    left: Readable
    right: Readable
    positives: np.ndarray
    symmetric: bool

    @property
    def pairs(self) -> int:
        return count_pairs(len(self.left), len(self.right), self.symmetric)

    def keys(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return left * len(self.right) + right

    @property
    def positive_keys(self) -> np.ndarray:
        return self.keys(*self.positives.T)

    def draw(self, n: int, barred: Callable[[np.ndarray, np.ndarray], np.ndarray], rng: np.random.Generator) -> Pairs:
        """Draw n distinct pairs uniformly from those not barred, in random order (fewer where fewer exist)."""
        size = n
        while True:
            size = min(self.pairs, 2 * size + 1_000)
            numbers = rng.choice(self.pairs, size=size, replace=False)
            left, right = pairs_numbered(numbers, len(self.left), len(self.right), self.symmetric)
            free = ~barred(left, right)
            if free.sum() >= n or size == self.pairs:
                left = left[free][:n]
                right = right[free][:n]
                return Pairs(left, right, np.zeros(len(left), dtype=np.float32))


def near_negatives(population: Population, rng: np.random.Generator, progress: Progress = no_progress) -> Pairs:
    """Return the negatives among each text's 100 nearest neighbours, each pair once (the paper's Table 1)."""
    sides = population.left, population.right
    neighbours = near_pairs(*sides, NEAR, population.symmetric, rng, progress=progress).pairs
    return neighbours.take(~np.isin(population.keys(neighbours.left, neighbours.right), population.positive_keys))


def near_random(
    population: Population, score: Score, n: int, rng: np.random.Generator, progress: Progress = no_progress
) -> list[Stratum]:
    """Return two strata: all negatives among the nearest neighbours, and n drawn uniformly from the others (A.2).

    Neighbours that an approximate search misses are among the others, so both sizes are exact all the same.
    """
    near = near_negatives(population, rng, progress)
    known = np.union1d(population.keys(near.left, near.right), population.positive_keys)
    random_pairs = population.draw(n, lambda left, right: np.isin(population.keys(left, right), known), rng)
    rest = population.pairs - len(population.positives) - len(near)
    return _scored(["near", "random"], [len(near), rest], [near, random_pairs], score)


def stratified(
    population: Population, score: Score, n: int, rng: np.random.Generator, progress: Progress = no_progress
) -> list[Stratum]:
    """Return strata of the cheap score, doubling in size from the top; about n negatives, in proportion to √size.

    The lowest stratum, nearly all pairs, is drawn from all pairs; the others are drawn in one pass.
    """
    edges, sizes = _edges(population, progress)
    share = np.sqrt(sizes) / np.sqrt(sizes).sum()
    sample_sizes = np.minimum(sizes, np.ceil(n * share).astype(np.int64))
    drawn = _draw_above(population, edges, sizes[:-1], sample_sizes[:-1], rng, progress)
    drawn.append(_draw_below(population, _lowest(edges), int(sample_sizes[-1]), rng))
    return _scored(_names(edges), sizes.tolist(), drawn, score)


def _scored(names: Sequence[str], sizes: Sequence[int], drawn: Sequence[Pairs], score: Score) -> list[Stratum]:
    """Return the strata, all their pairs scored in one call."""
    left, right = (np.concatenate([getattr(pairs, side) for pairs in drawn]) for side in ("left", "right"))
    parts = np.split(score(left, right), np.cumsum([len(pairs) for pairs in drawn])[:-1])
    return [Stratum(*columns) for columns in zip(names, sizes, parts, drawn, strict=True)]


def _edges(population: Population, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """Return the descending lower edges of all strata but the lowest, and each stratum's exact number of negatives."""
    fine = np.linspace(-1.001, 1.001, 4_097)
    counts = np.zeros(4_096)
    for block, share in _blocks(population):
        scores = block.scores[torch.isfinite(block.scores)]
        counts += torch.histc(scores, 4_096, float(fine[0]), float(fine[-1])).cpu().numpy()
        progress("strata", share)
    above = np.cumsum(counts[::-1])[::-1]  # negatives from each fine bin up
    goals = TOP * (2.0 ** np.arange(1, 64) - 1)
    goals = goals[goals < max(BULK * population.pairs, TOP + 1)]
    cuts = np.unique([np.searchsorted(-above, -goal) for goal in goals])[::-1]
    cuts = cuts[(cuts > 0) & (cuts < 4_096)]
    cumulative = np.r_[above[cuts], population.pairs - len(population.positives)]
    sizes = np.diff(cumulative, prepend=0).astype(np.int64)
    nonempty = np.r_[sizes[:-1] > 0]
    return fine[cuts][nonempty], np.r_[sizes[:-1][nonempty], sizes[-1]]


def _lowest(edges: np.ndarray) -> float:
    """Return the edge above which strata are drawn in one pass; few pairs are one stratum, without an edge."""
    return float(np.min(edges, initial=np.inf))


def _draw_above(
    population: Population,
    edges: np.ndarray,
    sizes: np.ndarray,
    sample_sizes: np.ndarray,
    rng: np.random.Generator,
    progress: Progress,
) -> list[Pairs]:
    """Draw a simple random sample of each stratum but the lowest, in one pass.

    Every pair gets a random number; the smallest numbers of a stratum are its sample. Only numbers that can be among
    them are kept: up to six standard deviations above the wanted share.
    """
    share = sample_sizes / sizes
    bound = np.minimum(1.0, share + 6 * np.sqrt(share / sizes) + 20 / sizes)
    by_stratum: list[list[np.ndarray]] = [[] for _ in edges]
    for block, share_done in _blocks(population):
        rows, columns = (place.cpu().numpy() for place in (block.scores >= _lowest(edges)).nonzero(as_tuple=True))
        scores = block.scores[rows, columns].cpu().numpy()
        stratum = np.searchsorted(-edges, -scores)  # the first edge that is at most the score
        number = rng.random(len(scores))
        low = number < bound[stratum]
        candidates = np.column_stack([number, rows + block.row, columns + block.column, stratum])[low]
        for place in np.unique(stratum[low]):
            by_stratum[place].append(candidates[candidates[:, 3] == place])
        progress("sample", share_done)
    return [_smallest(np.concatenate(parts), int(n)) for parts, n in zip(by_stratum, sample_sizes, strict=True)]


def _smallest(numbered: np.ndarray, n: int) -> Pairs:
    """Return the pairs with the n smallest numbers."""
    rows = numbered[np.argsort(numbered[:, 0])[:n]]
    return Pairs(rows[:, 1].astype(np.int64), rows[:, 2].astype(np.int64), np.zeros(len(rows), dtype=np.float32))


def _draw_below(population: Population, edge: float, n: int, rng: np.random.Generator) -> Pairs:
    """Draw n pairs uniformly from the negatives whose cheap score is below the edge."""
    positive = population.positive_keys

    def barred(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        scores = pair_cosines(np.asarray(population.left), np.asarray(population.right), left, right)
        return (scores >= edge) | np.isin(population.keys(left, right), positive)

    return population.draw(n, barred, rng)


def pair_cosines(left: np.ndarray, right: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the cosine of each pair of rows of unit vectors, (n,) float32."""
    parts = [
        np.einsum("nd,nd->n", left[rows[start : start + CHUNK]], right[columns[start : start + CHUNK]])
        for start in range(0, len(rows), CHUNK)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.float32)


def _blocks(population: Population) -> Iterator[tuple[Block, float]]:
    """Yield every block of cheap scores and the share done; positives and non-existent pairs are at minus infinity."""
    left = as_tensor(np.asarray(population.left))
    right = as_tensor(np.asarray(population.right))
    for block in without(blocks(left, right, population.symmetric), population.positives):
        yield block, min(1.0, (block.row + ROWS) / len(left))


def _names(edges: np.ndarray) -> list[str]:
    """Return a name for each stratum."""
    bounds = [1.0, *edges.tolist()]
    names = [f"cosine {low:.3f} to {high:.3f}" for high, low in pairwise(bounds)]
    return [*names, f"cosine below {bounds[-1]:.3f}" if len(edges) else "all negatives"]
