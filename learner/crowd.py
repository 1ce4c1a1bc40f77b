"""How crowded a text's neighbourhood is: a text that resembles many others is a poor match for each of them.

A score is lowered by the mean score of each text's three nearest texts of the other list, times a weight. With weight ½
it is the similarity of Conneau et al., Word Translation without Parallel Data (2018), section 2.3. The weight is a
setting: one fitted to labels is too small, since labelled pairs are chosen among the most similar ones (docs/log.md).
"""

import numpy as np

from db.domain import Distance, Progress, no_progress
from learner.dataset import Dataset
from learner.search import nearest_scores
from learner.space import Space, as_left, as_right

NEIGHBOURS = 3


def crowd_of(
    dataset: Dataset, vectors: np.ndarray, distance: Distance = "cosine", progress: Progress = no_progress
) -> np.ndarray:
    """The mean score of each text and its three nearest, (texts,) float32; 0 for a text without a split or others.

    vectors: (texts, d) with their offset. The neighbours are all texts of the other list that have a split.
    """
    mean, space = np.zeros(len(vectors), dtype=np.float32), Space(distance, offset=True)
    left = np.union1d(dataset.train_left, dataset.evaluation_left)
    right = np.union1d(dataset.train_right, dataset.evaluation_right)
    directions = [(left, right)] if dataset.symmetric else [(left, right), (right, left)]
    for rows, others in directions:
        sides = as_left(vectors[rows], space), as_right(vectors[others], space)
        scores = nearest_scores(*sides, NEIGHBOURS, dataset.symmetric, progress=progress)
        if scores.shape[1]:
            mean[rows] = scores.mean(1)
    return mean
