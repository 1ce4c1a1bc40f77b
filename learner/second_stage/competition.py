"""How a pair stands among the other candidates of its two texts: what no inner product can hold."""

from dataclasses import dataclass

import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.search.inner_product import Space, factors
from allpairs.learner.search.nearest import near_scores

CANDIDATES = 5  # best candidates of a text: a rank below the fifth tells no more
TIE = 1e-5  # scores of the same pair differ by less than this from one computation to another
ROUNDED = 2e-3  # the same where one of them is from vectors in half precision
FAR = 0.3  # a larger gap tells no more


@dataclass(frozen=True)
class Competition:
    """The scores of the best candidates of each text, the highest first, (texts, CANDIDATES) float32.

    left: of texts as the left one of a pair; right: as the right one, the same array in a symmetric dataset. Minus
    infinity where a text has fewer candidates. rounded: which texts have the scores of vectors in half precision,
    (texts,) bool; None: none.
    """

    left: np.ndarray
    right: np.ndarray
    rounded: np.ndarray | None = None

    def values(self, left: np.ndarray, right: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return gaps and ranks of pairs of rows with these scores under the left text, and under the right one.

        Four arrays (n,) float32. Gap: the score less that of the text's best other candidate, from -0.3 to 0.3. Rank:
        log(1 + the number of better candidates).
        """
        sides = (self.left[left], left), (self.right[right], right)
        gaps, ranks = zip(*(_standing(best, score, self._tie(rows)) for best, rows in sides), strict=True)
        return *gaps, *ranks

    def _tie(self, rows: np.ndarray) -> np.ndarray:
        """Return by how much a candidate's score may differ from that of the same pair, (n,)."""
        return np.full(len(rows), TIE) if self.rounded is None else np.where(self.rounded[rows], ROUNDED, TIE)


def competition_of(
    dataset: Dataset, vectors: np.ndarray, space: Space, progress: Progress = no_progress
) -> Competition:
    """Return the competition between all texts of both lists that have a split; vectors: (texts, d) in the space."""
    left = dataset.left
    right = dataset.right
    left_best = _best(dataset, vectors, left, right, space, progress)
    return Competition(
        left_best, left_best if dataset.symmetric else _best(dataset, vectors, right, left, space, progress)
    )


def best_candidates(scores: np.ndarray) -> np.ndarray:
    """Return the highest five scores of each row, the highest first, (n, CANDIDATES) float32."""
    best = np.full((len(scores), CANDIDATES), -np.inf, dtype=np.float32)
    width = min(CANDIDATES, scores.shape[1])
    best[:, :width] = -np.sort(-scores, axis=1)[:, :width]
    return best


def _best(
    dataset: Dataset, vectors: np.ndarray, rows: np.ndarray, candidates: np.ndarray, space: Space, progress: Progress
) -> np.ndarray:
    best = np.full((len(vectors), CANDIDATES), -np.inf, dtype=np.float32)
    best[rows] = best_candidates(
        near_scores(*factors(vectors, rows, candidates, space), CANDIDATES, dataset.symmetric, progress)
    )
    return best


def _standing(best: np.ndarray, score: np.ndarray, tie: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return gap and rank of pairs (n,); best: (n, CANDIDATES) of their text, the pair itself among them."""
    is_best = np.abs(best[:, 0] - score) <= tie
    gap = np.clip(score - np.where(is_best, best[:, 1], best[:, 0]), -FAR, FAR)
    better = (best > (score + tie)[:, None]).sum(1)
    return gap.astype(np.float32), np.log1p(better).astype(np.float32)
