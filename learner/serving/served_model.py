"""One model that answers requests: the best candidates of a few texts among a project's, with their whole score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from allpairs.db.corpus.equal_texts import same_texts
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.scoring.any_pairs import EncodedTexts, encode_texts, explain_pairs, score_pairs
from allpairs.learner.scoring.explanation import Part
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.search.inner_product import as_left, as_right
from allpairs.learner.serving.candidates import CandidateIndex

SPARE = 10  # candidates beyond those asked for: the search may have them in another order
SPARE_STAGED = 50  # the same where a second stage orders them
ReadRows = Callable[[np.ndarray], RecordTexts]  # the texts of these rows of a project


class Ranked(NamedTuple):
    """The best candidates of one text, equal texts first: rows of the project's texts, scores, and which are equal."""

    rows: np.ndarray
    score: np.ndarray
    equal: np.ndarray


class ScoredTexts(NamedTuple):
    """The best candidates of each text, and the parts of the scores of the first of them; empty if nobody asked."""

    ranked: list[Ranked]
    parts: list[list[list[Part]]]


@dataclass(frozen=True)
class ServedModel:
    """A matcher with the blended vectors (rows, d) of a project's texts, and an index for each side of a query.

    rows: for each side of a query, True for the left one, the rows among which it looks, in the order of its index.
    """

    matcher: PairModel
    vectors: np.ndarray
    rows: dict[bool, np.ndarray]
    indexes: dict[bool, CandidateIndex]

    def see(self, records: RecordTexts, of_left: bool) -> EncodedTexts:
        """Encode texts of this side."""
        return encode_texts(self.matcher, records.read(), of_left, records.fields(True))

    def best(
        self, texts: Sequence[str], queries: EncodedTexts, k: int, read: ReadRows, explained: int = 0
    ) -> ScoredTexts:
        """Return the k best candidates of each text, with the parts of the scores of the first `explained`.

        queries: the same texts as the model sees them.
        """
        text, row = self._near(queries, k)
        records, candidates = self._read(read, row, not queries.of_left)
        score = self._score(queries, candidates, text)
        equal = same_texts(texts, records.texts, text, candidates.places)
        order = np.lexsort((row, -score, ~equal, text))
        ends = np.searchsorted(text[order], np.arange(len(queries.places) + 1))
        places = [order[begin : min(begin + k, end)] for begin, end in pairwise(ends)]
        parts = self._why(queries, candidates, text, [of_text[:explained] for of_text in places])
        return ScoredTexts([Ranked(row[of_text], score[of_text], equal[of_text]) for of_text in places], parts)

    def scores(self, queries: EncodedTexts, text: np.ndarray, row: np.ndarray, read: ReadRows) -> np.ndarray:
        """Return the score (n,) of pairs of the text at a place with a row of the project."""
        return self._score(queries, self._read(read, row, not queries.of_left)[1], text)

    def probability(self, score: np.ndarray) -> np.ndarray:
        """Return p of these scores, (n,) float64."""
        assert self.matcher.layer is not None
        return self.matcher.layer.probability(score)

    def _near(self, queries: EncodedTexts, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of a text's place and a row, each once, with about the k best rows of each text and more."""
        as_query = as_left if queries.of_left else as_right
        count = k + (SPARE if self.matcher.second is None else SPARE_STAGED)
        rows = self.indexes[queries.of_left].search(as_query(queries.repeated_vectors, self.matcher.space), count)
        text, place = np.nonzero(rows >= 0)
        return text, self.rows[queries.of_left][rows[text, place]]

    def _read(self, read: ReadRows, row: np.ndarray, of_left: bool) -> tuple[RecordTexts, EncodedTexts]:
        """Read the texts of these rows, each once; return them, and them as the other side of the rows' scores."""
        distinct, places = np.unique(row, return_inverse=True)
        records = read(distinct)
        vectors = np.asarray(self.vectors[distinct])
        return records, EncodedTexts(records.read(), vectors, places, of_left, records.fields(True))

    def _score(self, queries: EncodedTexts, candidates: EncodedTexts, text: np.ndarray) -> np.ndarray:
        return score_pairs(self.matcher, *_sides(queries, candidates, text, np.arange(len(text))))

    def _why(
        self, queries: EncodedTexts, candidates: EncodedTexts, text: np.ndarray, pairs: list[np.ndarray]
    ) -> list[list[list[Part]]]:
        """Return the parts of these pairs, which are a text's each."""
        chosen = np.concatenate(pairs) if pairs else np.empty(0, dtype=np.int64)
        if not len(chosen):
            return [[] for _ in pairs]
        sides = _sides(queries, candidates.take(chosen), text[chosen], np.arange(len(chosen)))
        parts = explain_pairs(self.matcher, *sides)
        return [list(islice(parts, len(of_text))) for of_text in pairs]


def _sides(
    queries: EncodedTexts, candidates: EncodedTexts, text: np.ndarray, pair: np.ndarray
) -> tuple[EncodedTexts, EncodedTexts, np.ndarray, np.ndarray]:
    """Return both sides, the left one first, and the places of pairs of a text and a row in them."""
    return (queries, candidates, text, pair) if queries.of_left else (candidates, queries, pair, text)
