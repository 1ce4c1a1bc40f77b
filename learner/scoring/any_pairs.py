"""The whole score of pairs of any texts, of the corpus that the matcher was trained on or not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.learner.data.lexical_features import lexicon_by
from allpairs.learner.scoring.matcher import Matcher
from allpairs.learner.scoring.reference import candidates_of
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import scores
from allpairs.learner.second_stage.competition import Competition
from allpairs.learner.second_stage.pair_features import TextFeatures
from allpairs.learner.second_stage.rescore import PairFeatures


@dataclass(frozen=True)
class Seen:
    """The distinct texts of one side, their blended vectors (texts, d), and the place of each given text in them."""

    texts: list[str]
    vectors: np.ndarray
    places: np.ndarray
    of_left: bool

    @property
    def given(self) -> np.ndarray:
        """The vectors of the texts as they were given, (n, d)."""
        given: np.ndarray = self.vectors[self.places]
        return given


def see(matcher: Matcher, texts: Sequence[str], of_left: bool) -> Seen:
    """Encode texts of the left list, or of the right one. Raises InputError as `Matcher.vectors_of`."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    vectors = matcher.vectors_of(list(rows), matcher.encoder.encode(list(rows)), of_left)
    return Seen(list(rows), vectors, np.array([rows[text] for text in texts], dtype=np.int64), of_left)


def score_pairs(matcher: Matcher, left: Seen, right: Seen, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the score (n,) float32 of pairs of given texts, by their positions in the left and in the right ones.

    Raises InputError if the matcher lacks the reference that its score needs.
    """
    matcher.require_reference()
    vectors = np.concatenate([left.vectors, right.vectors])
    rows, columns = left.places[one], right.places[other] + len(left.texts)
    score = scores(vectors, rows, columns, matcher.space)
    if matcher.second is None:
        return score
    again, texts = np.flatnonzero(score >= matcher.second.floor), [*left.texts, *right.texts]
    if not len(again):
        return score
    reference = matcher.reference
    assert reference is not None and reference.terms is not None  # of a second stage
    near = [candidates_of(reference, side.texts, side.vectors, side.of_left, matcher.encoder.distance)
            for side in (left, right)]  # fmt: skip
    best, rounded = (np.concatenate(parts) for parts in zip(*near, strict=True))
    competition = Competition(best, best, rounded)
    features = PairFeatures(competition, TextFeatures(texts, lexicon_by(reference.terms, texts), reference.one_list))
    pairs = Pairs(rows[again], columns[again], score[again])
    score[again] = matcher.second.score(pairs.score, features.values(pairs))
    return score
