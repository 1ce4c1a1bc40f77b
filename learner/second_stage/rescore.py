"""Score the best pairs of a dataset again: which they are, their features, and their new scores."""

from dataclasses import dataclass, replace

import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import Lexicon
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import Space, as_left, as_right
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.search.top_pairs import LOWEST, best_pairs
from allpairs.learner.second_stage.competition import Competition, competition_of
from allpairs.learner.second_stage.field_features import FieldFeatures
from allpairs.learner.second_stage.pair_features import TextFeatures
from allpairs.learner.second_stage.second_stage import SecondStage

PER_TEXT = 10  # best pairs for each text that are scored again
MOST = 2_000_000  # pairs: minutes of comparing words
BLOCK = 100_000  # pairs whose features are in memory at once


@dataclass(frozen=True)
class PairFeatures:
    """The features of pairs of rows of a dataset."""

    competition: Competition
    texts: TextFeatures
    fields: FieldFeatures

    def values(self, pairs: Pairs) -> np.ndarray:
        """Return the features of the pairs, (n, features) float32 in the order of `features_with`."""
        standing = self.competition.values(pairs.left, pairs.right, pairs.score)
        if self.texts.symmetric:  # which text is the left one means nothing
            standing = tuple(
                order(*standing[start : start + 2]) for start in (0, 2) for order in (np.minimum, np.maximum)
            )
        rows = pairs.left, pairs.right
        return np.column_stack([*standing, self.texts.values(*rows), self.fields.values(*rows)])


def best_dataset_pairs(
    dataset: Dataset, vectors: np.ndarray, space: Space, floor: float = LOWEST, progress: Progress = no_progress
) -> Pairs:
    """Return the best pairs of all texts with a split as rows, best first: all from a floor up, two million at most.

    Without a floor, ten for each text, and the next one. Pairs of different splits are among them: they compete.
    """
    left = dataset.left
    right = dataset.right
    count = PER_TEXT * (len(left) + (0 if dataset.symmetric else len(right))) + 1
    top = min(MOST, count) if floor == LOWEST else MOST
    sides = as_left(vectors[left], space), as_right(vectors[right], space)
    best = best_pairs(*sides, dataset.symmetric, top=top, threshold=floor, progress=progress)
    return Pairs(left[best.left], right[best.right], best.score)


def features_of(
    dataset: Dataset,
    vectors: np.ndarray,
    space: Space,
    lexicon: Lexicon,
    one_list: bool,
    fields: FieldFeatures,
    progress: Progress = no_progress,
) -> PairFeatures:
    """Return the features of a dataset's pairs, where all its texts compete.

    lexicon: of the same texts; one_list: whether the second stage was, or will be, fitted on pairs of one list; fields:
    the features by its columns.
    """
    competition = competition_of(dataset, vectors, space, progress)
    texts = TextFeatures(dataset.texts, lexicon, one_list)
    return PairFeatures(competition, texts, fields)


def rescore(second: SecondStage, pairs: Pairs, features: PairFeatures, rows: int) -> Rescored:
    """Return these pairs, all from the floor up, with their new scores; rows: of the dataset."""
    if len(pairs) == MOST:  # there may be more: all that are not scored again have to stay below
        second = replace(second, floor=float(pairs.score[-1]))
    new_scores = np.empty(len(pairs), dtype=np.float32)
    for start in range(0, len(pairs), BLOCK):
        block = pairs.take(np.arange(start, min(start + BLOCK, len(pairs))))
        new_scores[start : start + BLOCK] = second.score(block.score, features.values(block))
    return Rescored(Pairs(pairs.left, pairs.right, new_scores), rows)
