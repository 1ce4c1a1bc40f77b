"""The whole score of pairs of any texts, of the corpus that the matcher was trained on or not."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from allpairs.db.corpus.equal_texts import EQUAL, MODEL, same_texts
from allpairs.learner.data.fields import Field, joined_fields
from allpairs.learner.data.lexical_features import Lexicon, lexicon_by
from allpairs.learner.scoring.explanation import Part, explained
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.scoring.reference import candidates_of
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import scores
from allpairs.learner.second_stage.competition import Competition
from allpairs.learner.second_stage.field_features import FieldFeatures
from allpairs.learner.second_stage.pair_features import TextFeatures
from allpairs.learner.second_stage.rescore import PairFeatures


@dataclass(frozen=True)
class Seen:
    """The distinct texts of one side, their blended vectors (texts, d), and the place of each given text in them.

    fields: the columns of the same texts, where they have several.
    """

    texts: list[str]
    vectors: np.ndarray
    places: np.ndarray
    of_left: bool
    fields: Sequence[Field] = ()

    @property
    def given(self) -> np.ndarray:
        """The vectors of the texts as they were given, (n, d)."""
        given: np.ndarray = self.vectors[self.places]
        return given

    def take(self, given: np.ndarray) -> "Seen":
        """Return only these of the given texts, by their positions, in that order."""
        rows, places = np.unique(self.places[given], return_inverse=True)
        fields = [field.take(rows) for field in self.fields]
        return Seen([self.texts[row] for row in rows], self.vectors[rows], places, self.of_left, fields)


def see(matcher: PairModel, texts: Sequence[str], of_left: bool, fields: Sequence[Field] = ()) -> Seen:
    """Encode texts of the left list, or of the right one; fields: their columns, if they have several.

    Raises InputError as `PairModel.vectors_of`.
    """
    records = list(zip(texts, *(field.values for field in fields), strict=True))
    rows = {record: row for row, record in enumerate(dict.fromkeys(records))}
    distinct, *values = zip(*rows, strict=True) if rows else ((), *((),) * len(fields))
    vectors = matcher.vectors_of(distinct, matcher.encoder.encode(list(distinct)), of_left)
    own = [replace(field, values=of_field) for field, of_field in zip(fields, values, strict=True)]
    return Seen(list(distinct), vectors, np.array([rows[each] for each in records], dtype=np.int64), of_left, own)


def score_pairs(matcher: PairModel, left: Seen, right: Seen, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the score (n,) float32 of pairs of given texts, by their positions in the left and in the right ones.

    Raises InputError if the matcher lacks the reference that its score needs.
    """
    first = _first(matcher, left, right, one, other)[1]
    score = first.score
    if matcher.second is None:
        return score
    again = np.flatnonzero(score >= matcher.second.floor)
    if len(again):
        pairs = first.take(again)
        score[again] = matcher.second.score(pairs.score, _features(matcher, left, right).values(pairs))
    return score


def explain_pairs(
    matcher: PairModel, left: Seen, right: Seen, one: np.ndarray, other: np.ndarray
) -> Iterator[list[Part]]:
    """Yield what each part adds to the log-odds of the same pairs. Raises InputError as `score_pairs`."""
    vectors, pairs = _first(matcher, left, right, one, other)
    lexicon = _lexicon(matcher, left, right) if matcher.blend.lexical else None
    features = _features(matcher, left, right) if matcher.second else None
    return explained(matcher, vectors, pairs, lexicon, features)


def equal_first(
    texts: Sequence[str], others: Sequence[str], ids: np.ndarray, score: np.ndarray, k: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return k of each text's candidates (n, m), equal texts first, then the best: places, scores, and reasons."""
    rows = np.repeat(np.arange(len(ids)), ids.shape[1])
    equal = same_texts(texts, others, rows, ids.ravel()).reshape(ids.shape)
    order = np.lexsort((ids, -score, ~equal))[:, :k]
    ids, score, equal = (np.take_along_axis(column, order, 1) for column in (ids, score, equal))
    return ids, score, np.where(equal, EQUAL, MODEL)


def _first(matcher: PairModel, left: Seen, right: Seen, one: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, Pairs]:
    """Return the vectors of both, the left ones first, and the pairs as rows of them with their first scores."""
    matcher.require_reference()
    vectors = np.concatenate([left.vectors, right.vectors])
    rows = left.places[one]
    columns = right.places[other] + len(left.texts)
    return vectors, Pairs(rows, columns, scores(vectors, rows, columns, matcher.space))


def _features(matcher: PairModel, left: Seen, right: Seen) -> PairFeatures:
    """Return the features of pairs of the rows of both, under a matcher that has a second stage."""
    reference = matcher.reference
    second = matcher.second
    assert reference is not None and second is not None  # `require_reference` has passed
    near = [
        candidates_of(reference, side.texts, side.vectors, side.of_left, matcher.encoder.distance)
        for side in (left, right)
    ]
    best, rounded = (np.concatenate(parts) for parts in zip(*near, strict=True))
    lexicon = _lexicon(matcher, left, right)
    return PairFeatures(
        Competition(best, best, rounded),
        TextFeatures([*left.texts, *right.texts], lexicon, reference.one_list),
        FieldFeatures(joined_fields(left.fields, right.fields, (len(left.texts), len(right.texts))), second.kinds),
    )


def _lexicon(matcher: PairModel, left: Seen, right: Seen) -> Lexicon:
    """Return the lexical features of the rows of both, under a matcher that has any."""
    assert matcher.reference is not None and matcher.reference.terms is not None
    return lexicon_by(matcher.reference.terms, [*left.texts, *right.texts])
