"""The hubness correction: a text that resembles many others is a poor match for each of them.

A score is lowered by the mean score of each text's three nearest texts of the other list, times a weight. With weight ½
it is CSLS (Conneau et al. 2018, section 2.3). The weight is a setting: fitted to labels it would be too small, since
these are chosen among the most similar pairs. The texts of the shorter of two lists get twice the weight: they have
more neighbours, which tell more. docs/log.md has both results.
"""

import numpy as np

from allpairs.db.domain import Distance
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.search.inner_product import Space, factors
from allpairs.learner.search.nearest import near_scores

NEIGHBOURS = 3


def hubness_of(
    dataset: Dataset,
    vectors: np.ndarray,
    weight: float,
    distance: Distance = "cosine",
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return what is subtracted from each text's scores, (texts,) float32; 0 where there are no neighbours.

    vectors: (texts, d) with their offset. The neighbours are all texts of the other list that have a split; a text
    without a split has none. A withdrawn text is no neighbour, but has some: it may come back.
    """
    offset = np.zeros(len(vectors), dtype=np.float32)
    space = Space(distance, offset=True)
    left = dataset.left
    right = dataset.right
    directions = [(left, right)] if dataset.symmetric else [(left, right), (right, left)]
    for rows, candidates in directions:
        sides = factors(vectors, rows, candidates, space)
        scores = near_scores(*sides, NEIGHBOURS, dataset.symmetric, progress)
        if scores.shape[1]:
            offset[rows] = hubness_weight(weight, rows, candidates) * scores.mean(1)
    for withdrawn, list_rows, candidates in ((dataset.gone_left, left, right), (dataset.gone_right, right, left)):
        offset[withdrawn] = hubness_weight(weight, list_rows, candidates) * hubness_among(
            vectors, withdrawn, candidates, space
        )
    return offset


def hubness_among(vectors: np.ndarray, rows: np.ndarray, candidates: np.ndarray, space: Space) -> np.ndarray:
    """Return the mean score of each of these rows with the nearest of the others, none of them itself, (n,) float32."""
    if not (len(rows) and len(candidates)):
        return np.zeros(len(rows), dtype=np.float32)
    means: np.ndarray = near_scores(*factors(vectors, rows, candidates, space), NEIGHBOURS, False).mean(1)
    return means


def hubness_weight(weight: float, rows: np.ndarray, other_rows: np.ndarray) -> float:
    """Return the weight for the texts of a list: twice as much in the shorter one."""
    return weight * (2 if len(rows) < len(other_rows) else 1)
