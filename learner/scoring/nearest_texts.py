"""The nearest texts of any text, in the dataset or not, by the score of their pairs."""

from dataclasses import dataclass

import numpy as np

from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import lexicon_of
from allpairs.learner.scoring.hubness import NEIGHBOURS, hubness_weight
from allpairs.learner.scoring.lexical_weights import total
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.exact import nearest, nearest_scores
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right


@dataclass(frozen=True)
class Lists:
    """The rows of a text's own list, and those of the list of its possible matches; int64."""

    own_rows: np.ndarray
    candidates: np.ndarray


def lists_of(dataset: Dataset, of_left: bool) -> Lists:
    """Return the two lists for a text of the left one, or of the right one; equal in a symmetric dataset."""
    left = dataset.left
    right = dataset.right
    return Lists(left, right) if of_left else Lists(right, left)


def text_vector(
    dataset: Dataset, vectors: np.ndarray, encoded: np.ndarray, text: str, lists: Lists, blend: Blend
) -> np.ndarray:
    """Return the vector (1, d) of a text, as the dataset's blended `vectors` have it for a text that is among them.

    encoded: (1, e), the text's unit vector. The lexical features of the dataset are computed again, which takes minutes
    for a million texts.
    """
    lacking: np.ndarray = np.zeros(len(vectors) + 1, dtype=np.float32)
    if blend.lexical:
        lexicon = lexicon_of(dataset.texts, [text])
        weight = np.float32(total(blend.lexical))
        lexical, _ = lexicon.take([-1]).vectors(blend.lexical)
        lacking = lexicon.lacking(blend.lexical) / weight
        encoded = np.hstack([encoded, lexical]) / np.sqrt(weight)
    query: np.ndarray = np.hstack([encoded, lacking[-1:, None]])
    if blend.hubness:
        query[0, -1] += _hubness(dataset, vectors, lacking, query, text, lists, blend.hubness)
    return query


def _hubness(
    dataset: Dataset,
    vectors: np.ndarray,
    lacking: np.ndarray,
    query: np.ndarray,
    text: str,
    lists: Lists,
    weight: float,
) -> float:
    """Return what is subtracted from the text's scores, as in `learner.scoring.hubness`; its own row is excluded."""
    is_other = [identity(dataset.texts[row]) != identity(text) for row in lists.candidates]
    rows = lists.candidates[np.array(is_other, dtype=bool)]
    if not len(rows):
        return 0.0
    unpenalised = vectors[rows]
    unpenalised[:, -1] = lacking[rows]
    scores = nearest_scores(as_left(query, BLENDED), as_right(unpenalised, BLENDED), NEIGHBOURS, symmetric=False)
    return hubness_weight(weight, lists.own_rows, lists.candidates) * float(scores.mean())


def nearest_rows(
    vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int, progress: Progress = no_progress
) -> tuple[np.ndarray, np.ndarray]:
    """Return those of the rows with the k highest scores with the query (1, d), best first, and these scores."""
    if not len(rows):
        return rows, np.empty(0, dtype=np.float32)
    pairs = nearest(as_left(query, BLENDED), as_right(vectors[rows], BLENDED), k, symmetric=False, progress=progress)
    best = np.lexsort((pairs.right, -pairs.score))
    return rows[pairs.right[best]], pairs.score[best]
