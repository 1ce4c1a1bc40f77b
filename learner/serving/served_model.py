"""One model that answers requests: the best candidates of a few texts among a project's, with their whole score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from allpairs.db.corpus.equal_texts import same_texts
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.scoring.any_pairs import Seen, explain_pairs, score_pairs, see
from allpairs.learner.scoring.explanation import Part
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.search.inner_product import as_left, as_right
from allpairs.learner.serving.candidates import Candidates

SPARE = 10  # candidates beyond those asked for: the search may have them in another order
SPARE_STAGED = 50  # the same where a second stage orders them
ReadRows = Callable[[np.ndarray], RecordTexts]  # the texts of these rows of a project


class Ranked(NamedTuple):
    """The best candidates of one text, equal texts first: rows of the project's texts, scores, and which are equal."""

    rows: np.ndarray
    score: np.ndarray
    equal: np.ndarray


class Scored(NamedTuple):
    """The best candidates of each text, and the parts of the scores of the first of them; empty if nobody asked."""

    ranked: list[Ranked]
    why: list[list[list[Part]]]


@dataclass(frozen=True)
class ServedModel:
    """A matcher with the blended vectors (rows, d) of a project's texts, and an index for each side of a query.

    rows: for each side of a query, True for the left one, the rows among which it looks, in the order of its index.
    """

    matcher: PairModel
    vectors: np.ndarray
    rows: dict[bool, np.ndarray]
    indexes: dict[bool, Candidates]

    def see(self, records: RecordTexts, of_left: bool) -> Seen:
        """Encode texts of this side."""
        return see(self.matcher, records.read(), of_left, records.fields(True))

    def best(self, texts: Sequence[str], asked: Seen, k: int, read: ReadRows, explained: int = 0) -> Scored:
        """Return the k best candidates of each text, with the parts of the scores of the first `explained`.

        asked: the same texts as the model sees them.
        """
        text, row = self._near(asked, k)
        records, others = self._read(read, row, not asked.of_left)
        score = self._score(asked, others, text)
        equal = same_texts(texts, records.texts, text, others.places)
        order = np.lexsort((row, -score, ~equal, text))
        ends = np.searchsorted(text[order], np.arange(len(asked.places) + 1))
        kept = [order[begin : min(begin + k, end)] for begin, end in pairwise(ends)]
        why = self._why(asked, others, text, [some[:explained] for some in kept])
        return Scored([Ranked(row[some], score[some], equal[some]) for some in kept], why)

    def scores(self, asked: Seen, text: np.ndarray, row: np.ndarray, read: ReadRows) -> np.ndarray:
        """Return the score (n,) of pairs of the text at a place with a row of the project."""
        return self._score(asked, self._read(read, row, not asked.of_left)[1], text)

    def probability(self, score: np.ndarray) -> np.ndarray:
        """Return p of these scores, (n,) float64."""
        assert self.matcher.layer is not None
        return self.matcher.layer.probability(score)

    def _near(self, asked: Seen, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return pairs of a text's place and a row, each once, with about the k best rows of each text and more."""
        one = as_left if asked.of_left else as_right
        wanted = k + (SPARE if self.matcher.second is None else SPARE_STAGED)
        found = self.indexes[asked.of_left].search(one(asked.given, self.matcher.space), wanted)
        text, place = np.nonzero(found >= 0)
        return text, self.rows[asked.of_left][found[text, place]]

    def _read(self, read: ReadRows, row: np.ndarray, of_left: bool) -> tuple[RecordTexts, Seen]:
        """Read the texts of these rows, each once; return them, and them as the other side of the rows' scores."""
        distinct, places = np.unique(row, return_inverse=True)
        records = read(distinct)
        vectors = np.asarray(self.vectors[distinct])
        return records, Seen(records.read(), vectors, places, of_left, records.fields(True))

    def _score(self, asked: Seen, others: Seen, text: np.ndarray) -> np.ndarray:
        return score_pairs(self.matcher, *_sides(asked, others, text, np.arange(len(text))))

    def _why(self, asked: Seen, others: Seen, text: np.ndarray, pairs: list[np.ndarray]) -> list[list[list[Part]]]:
        """Return the parts of these pairs, which are a text's each."""
        chosen = np.concatenate(pairs) if pairs else np.empty(0, dtype=np.int64)
        if not len(chosen):
            return [[] for _ in pairs]
        sides = _sides(asked, others.take(chosen), text[chosen], np.arange(len(chosen)))
        parts = explain_pairs(self.matcher, *sides)
        return [list(islice(parts, len(some))) for some in pairs]


def _sides(asked: Seen, others: Seen, text: np.ndarray, pair: np.ndarray) -> tuple[Seen, Seen, np.ndarray, np.ndarray]:
    """Return both sides, the left one first, and the places of pairs of a text and a row in them."""
    return (asked, others, text, pair) if asked.of_left else (others, asked, pair, text)
