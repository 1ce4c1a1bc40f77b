"""The second stage's scores of the pairs of added texts; the pairs that were there keep theirs."""

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.scoring.any_pairs import EncodedTexts, score_pairs
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.search.exact import Pairs, no_pairs
from allpairs.learner.search.inner_product import as_left, as_right
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.search.top_pairs import best_pairs
from allpairs.learner.second_stage.rescore import MOST

BLOCK = 20_000  # pairs whose texts are taken apart at once


def extended_rescored(
    matcher: PairModel, known: Rescored, dataset: Dataset, vectors: np.ndarray, new: np.ndarray, progress: Progress
) -> Rescored:
    """Return the known pairs with those of the new rows, which compete with the texts that the matcher was made with.

    vectors: (texts, d), blended. A pair is scored as a search for a text scores it: the same wherever it is asked for.
    """
    assert matcher.second is not None
    old = known.pairs.take(~(np.isin(known.pairs.left, new) | np.isin(known.pairs.right, new)))
    pairs = _best(dataset, vectors, matcher, matcher.second.floor, new, progress)
    score = np.empty(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), BLOCK):
        part = slice(start, start + BLOCK)
        left_texts, left = _seen(dataset, vectors, pairs.left[part], True)
        right_texts, right = _seen(dataset, vectors, pairs.right[part], dataset.symmetric)
        score[part] = score_pairs(matcher, left_texts, right_texts, left, right)
        progress("score pairs", start / len(pairs))
    columns = zip((old.left, old.right, old.score), (pairs.left, pairs.right, score), strict=True)
    return Rescored(Pairs(*map(np.concatenate, columns)), len(vectors))


def _best(
    dataset: Dataset, vectors: np.ndarray, matcher: PairModel, floor: float, new: np.ndarray, progress: Progress
) -> Pairs:
    """Return the pairs of new rows from the floor up, each once, the best two million at most."""
    lefts = dataset.left
    rights = dataset.right
    parts = [(np.intersect1d(lefts, new), rights)]
    if not dataset.symmetric:
        parts.append((lefts, np.intersect1d(rights, new)))
    part_pairs = [no_pairs()]
    for left, right in parts:
        sides = as_left(vectors[left], matcher.space), as_right(vectors[right], matcher.space)
        best = best_pairs(*sides, False, top=MOST, threshold=floor, progress=progress)
        part_pairs.append(Pairs(left[best.left], right[best.right], best.score))
    left, right, score = (
        np.concatenate([getattr(part, name) for part in part_pairs]) for name in ("left", "right", "score")
    )
    pairs = Pairs(left, right, score)
    if dataset.symmetric:
        pairs = Pairs(np.minimum(left, right), np.maximum(left, right), score)
    pairs = pairs.take(pairs.left != pairs.right)  # in two lists no row is in both
    return pairs.take(np.unique(pairs.keys(len(vectors)), return_index=True)[1])


def _seen(dataset: Dataset, vectors: np.ndarray, rows: np.ndarray, of_left: bool) -> tuple[EncodedTexts, np.ndarray]:
    """Return the texts of these rows, each once, and the place of each row among them."""
    distinct, places = np.unique(rows, return_inverse=True)
    texts = [dataset.texts[row] for row in distinct]
    fields = [field.take(distinct) for field in dataset.fields]
    return EncodedTexts(texts, vectors[distinct], np.arange(len(distinct)), of_left, fields), places
