"""The nearest texts of any text, one of the dataset's or not, by the score that its pairs have."""

from dataclasses import dataclass

import numpy as np

from db.progress import Progress, no_progress
from learner.data.dataset import Dataset
from learner.data.lexical_features import lexicon_of
from learner.scoring.hubness import NEIGHBOURS
from learner.scoring.lexical_weights import total
from learner.scoring.score import Blend
from learner.search.exact import nearest, nearest_scores
from learner.search.inner_product import BLENDED, as_left, as_right


@dataclass(frozen=True)
class Lists:
    """The rows of the list that a text stands in, and of the one in which its pairs' other texts are; int64."""

    own: np.ndarray
    others: np.ndarray


def lists_of(dataset: Dataset, of_left: bool) -> Lists:
    """The two lists for a text of the left one, or of the right one; in a symmetric dataset they are the same."""
    left = np.union1d(dataset.train_left, dataset.evaluation_left)
    right = np.union1d(dataset.train_right, dataset.evaluation_right)
    return Lists(left, right) if of_left else Lists(right, left)


def text_vector(
    dataset: Dataset, vectors: np.ndarray, encoded: np.ndarray, text: str, lists: Lists, blend: Blend
) -> np.ndarray:
    """The vector (1, d) of a text beside the dataset's blended `vectors`: that of a text which has one already.

    encoded: (1, e), the text's unit vector. How texts are spelled is learned again from the dataset's: on a million of
    them that takes minutes.
    """
    lacking: np.ndarray = np.zeros(len(vectors) + 1, dtype=np.float32)
    if blend.lexical:
        lexicon, weight = lexicon_of(dataset.texts, [text]), np.float32(total(blend.lexical))
        spelled, _ = lexicon.take([-1]).vectors(blend.lexical)
        lacking = lexicon.lacking(blend.lexical) / weight
        encoded = np.hstack([encoded, spelled]) / np.sqrt(weight)
    query: np.ndarray = np.hstack([encoded, lacking[-1:, None]])
    if blend.hubness:
        query[0, -1] += _hubness(dataset, vectors, lacking, query, text, lists, blend.hubness)
    return query


def _hubness(
    dataset: Dataset, vectors: np.ndarray, lacking: np.ndarray, query: np.ndarray, text: str, lists: Lists,
    weight: float,
) -> float:  # fmt: skip
    """What is taken off the text's scores, as `learner.scoring.hubness` has it; its own row is not in its hubness."""
    rows = lists.others[[dataset.texts[row] != text for row in lists.others]] if len(lists.others) else lists.others
    if not len(rows):
        return 0.0
    unpenalised = vectors[rows]
    unpenalised[:, -1] = lacking[rows]
    scores = nearest_scores(as_left(query, BLENDED), as_right(unpenalised, BLENDED), NEIGHBOURS, symmetric=False)
    return weight * (2 if len(lists.own) < len(lists.others) else 1) * float(scores.mean())


def nearest_rows(
    vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int, progress: Progress = no_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Those of the rows with the k highest scores with the query (1, d), best first, and their scores (float32)."""
    if not len(rows):
        return rows, np.empty(0, dtype=np.float32)
    found = nearest(as_left(query, BLENDED), as_right(vectors[rows], BLENDED), k, symmetric=False, progress=progress)
    best = np.lexsort((found.right, -found.score))
    return rows[found.right[best]], found.score[best]
