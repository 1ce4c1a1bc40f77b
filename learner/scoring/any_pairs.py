"""The whole score of pairs of any texts, of the corpus that the matcher was trained on or not."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from allpairs.learner.data.fields import Field, joined_fields
from allpairs.learner.data.lexical_features import lexicon_by
from allpairs.learner.scoring.matcher import Matcher
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


def see(matcher: Matcher, texts: Sequence[str], of_left: bool, fields: Sequence[Field] = ()) -> Seen:
    """Encode texts of the left list, or of the right one; fields: their columns, if they have several.

    Raises InputError as `Matcher.vectors_of`.
    """
    records = list(zip(texts, *(field.values for field in fields), strict=True))
    rows = {record: row for row, record in enumerate(dict.fromkeys(records))}
    distinct, *values = zip(*rows, strict=True) if rows else ((), *((),) * len(fields))
    vectors = matcher.vectors_of(distinct, matcher.encoder.encode(list(distinct)), of_left)
    own = [replace(field, values=of_field) for field, of_field in zip(fields, values, strict=True)]
    return Seen(list(distinct), vectors, np.array([rows[each] for each in records], dtype=np.int64), of_left, own)


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
    fields = joined_fields(left.fields, right.fields, (len(left.texts), len(right.texts)))
    features = PairFeatures(
        competition, TextFeatures(texts, lexicon_by(reference.terms, texts), reference.one_list),
        FieldFeatures(fields, matcher.second.kinds),
    )  # fmt: skip
    pairs = Pairs(rows[again], columns[again], score[again])
    score[again] = matcher.second.score(pairs.score, features.values(pairs))
    return score
