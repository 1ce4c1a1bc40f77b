"""The whole score of pairs of any texts, of the corpus that the matcher was trained on or not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from allpairs.db.corpus.equal_texts import EQUAL, MODEL, same_texts
from allpairs.learner.data.fields import Field, joined_fields
from allpairs.learner.data.lexical_features import Lexicon, lexicon_by
from allpairs.learner.scoring.explanation import Part, part_lists
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.scoring.reference import candidates_of
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import scores
from allpairs.learner.second_stage.competition import Competition
from allpairs.learner.second_stage.pair_features import TextFeatures
from allpairs.learner.second_stage.rescore import PairFeatures


@dataclass(frozen=True)
class EncodedTexts:
    """The distinct texts of one side, their blended vectors (texts, d), and the place of each given text in them.

    fields: the columns of the same texts, where they have several.
    """

    texts: list[str]
    vectors: np.ndarray
    places: np.ndarray
    of_left: bool
    fields: Sequence[Field] = ()

    @property
    def repeated_vectors(self) -> np.ndarray:
        """The vectors of the texts, one for each that was passed, (n, d)."""
        repeated: np.ndarray = self.vectors[self.places]
        return repeated

    def take(self, positions: np.ndarray) -> "EncodedTexts":
        """Return only these of the given texts, by their positions, in that order."""
        rows, places = np.unique(self.places[positions], return_inverse=True)
        fields = [field.take(rows) for field in self.fields]
        return EncodedTexts([self.texts[row] for row in rows], self.vectors[rows], places, self.of_left, fields)


def encode_texts(matcher: PairModel, texts: Sequence[str], of_left: bool, fields: Sequence[Field] = ()) -> EncodedTexts:
    """Encode texts of the left list, or of the right one; fields: their columns, if they have several."""
    records = list(zip(texts, *(field.values for field in fields), strict=True))
    rows = {record: row for row, record in enumerate(dict.fromkeys(records))}
    distinct, *values = zip(*rows, strict=True) if rows else ((), *((),) * len(fields))
    vectors = matcher.vectors_of(distinct, matcher.encoder.encode(list(distinct)), of_left)
    text_fields = [replace(field, values=of_field) for field, of_field in zip(fields, values, strict=True)]
    return EncodedTexts(
        list(distinct), vectors, np.array([rows[record] for record in records], dtype=np.int64), of_left, text_fields
    )


def score_pairs(
    matcher: PairModel, left: EncodedTexts, right: EncodedTexts, left_positions: np.ndarray, right_positions: np.ndarray
) -> np.ndarray:
    """Return the score (n,) float32 of pairs of given texts, by their positions in the left and in the right ones."""
    first = _first(matcher, left, right, left_positions, right_positions)[1]
    score = first.score
    if matcher.second is None:
        return score
    rescored = np.flatnonzero(score >= matcher.second.floor)
    if len(rescored):
        pairs = first.take(rescored)
        score[rescored] = matcher.second.score(pairs.score, _features(matcher, left, right).values(pairs))
    return score


def explain_pairs(
    matcher: PairModel, left: EncodedTexts, right: EncodedTexts, left_positions: np.ndarray, right_positions: np.ndarray
) -> Iterator[list[Part]]:
    """Yield what each part adds to the log-odds of the same pairs."""
    vectors, pairs = _first(matcher, left, right, left_positions, right_positions)
    lexicon = _lexicon(matcher, left, right) if matcher.blend.lexical else None
    features = _features(matcher, left, right) if matcher.second else None
    return part_lists(matcher, vectors, pairs, lexicon, features)


def equal_first(
    texts: Sequence[str], candidates: Sequence[str], ids: np.ndarray, score: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return k of each text's candidates (n, m), equal texts first, then the best: places, scores, and reasons."""
    rows = np.repeat(np.arange(len(ids)), ids.shape[1])
    equal = same_texts(texts, candidates, rows, ids.ravel()).reshape(ids.shape)
    order = np.lexsort((ids, -score, ~equal))[:, :k]
    ids, score, equal = (np.take_along_axis(column, order, 1) for column in (ids, score, equal))
    return ids, score, np.where(equal, EQUAL, MODEL)


def _first(
    matcher: PairModel, left: EncodedTexts, right: EncodedTexts, left_positions: np.ndarray, right_positions: np.ndarray
) -> tuple[np.ndarray, Pairs]:
    """Return the vectors of both, the left ones first, and the pairs as rows of them with their first scores."""
    vectors = np.concatenate([left.vectors, right.vectors])
    rows = left.places[left_positions]
    columns = right.places[right_positions] + len(left.texts)
    return vectors, Pairs(rows, columns, scores(vectors, rows, columns, matcher.space))


def _features(matcher: PairModel, left: EncodedTexts, right: EncodedTexts) -> PairFeatures:
    """Return the features of pairs of the rows of both, under a matcher that has a second stage."""
    reference = matcher.reference
    second = matcher.second
    assert reference is not None and second is not None
    near = [
        candidates_of(reference, side.texts, side.vectors, side.of_left, matcher.encoder.distance)
        for side in (left, right)
    ]
    best, rounded = (np.concatenate(parts) for parts in zip(*near, strict=True))
    lexicon = _lexicon(matcher, left, right)
    return PairFeatures(
        Competition(best, best, rounded),
        TextFeatures([*left.texts, *right.texts], lexicon, reference.one_list),
        second.fields(joined_fields(left.fields, right.fields, (len(left.texts), len(right.texts)))),
    )


def _lexicon(matcher: PairModel, left: EncodedTexts, right: EncodedTexts) -> Lexicon:
    """Return the lexical features of the rows of both, under a matcher that has any."""
    assert matcher.reference is not None and matcher.reference.terms is not None
    return lexicon_by(matcher.reference.terms, [*left.texts, *right.texts])
