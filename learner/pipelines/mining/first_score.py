"""The bi-encoder's score of a pair as log-odds, which a cross-encoder may keep and correct.

A logistic regression on the cosine of a pair and on the mean cosine of each of its texts with its neighbours: the
margin of Artetxe and Schwenk (2019) with learned weights.
"""

from collections.abc import Callable

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allpairs.learner.pipelines.mining.shards import disk_neighbours

SAME = 0.9995  # a cosine above this is a text's with itself, in half precision


def features(
    x: np.ndarray, y: np.ndarray, pairs: np.ndarray, lists: tuple[np.ndarray, np.ndarray], k: int, one_list: bool
) -> np.ndarray:
    """Return the cosine of each pair and the mean cosine of both texts with their k neighbours, (n, 3) float64.

    x (a, d), y (b, d): unit vectors; pairs (n, 2): rows of them; lists: all vectors, where neighbours are searched.
    one_list: both lists are the same, where no text is its own neighbour, and both means are that of the two: the order
    of a pair's texts says nothing.
    """
    of_x, of_y = (
        _mean_cosines(vectors, all_vectors, k, one_list)
        for vectors, all_vectors in zip((x, y), reversed(lists), strict=True)
    )
    left, right = pairs.T
    cosines = np.einsum("nd,nd->n", x[left], y[right], dtype=np.float64)
    means = of_x[left], of_y[right]
    return np.column_stack([cosines, *([sum(means) / 2] * 2 if one_list else means)])


def _mean_cosines(queries: np.ndarray, vectors: np.ndarray, k: int, one_list: bool) -> np.ndarray:
    scores = disk_neighbours(queries, vectors, k + one_list).scores.astype(np.float64)
    if one_list and scores.shape[1] > 1:
        scores = np.where(scores[:, :1] > SAME, scores[:, 1:], scores[:, :-1])
    return scores.mean(axis=1)


def fit_first_score(right: np.ndarray, wrong: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from features (n, 3) to log-odds (n,) float32, fitted to those of right and wrong pairs."""
    model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))
    model.fit(np.r_[right, wrong], np.r_[np.ones(len(right)), np.zeros(len(wrong))])
    return lambda values: model.decision_function(values).astype(np.float32)
