"""BM25 of any pair of texts, from the word counts of a collection."""

import gzip
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.learner.search.bm25 import K1, B, words_of


@dataclass(frozen=True)
class WordCounts:
    """The number of texts of a collection with each word, and BM25's settings (see `Bm25`).

    length: mean number of words of a text; with_word: only words of several texts, as any other word counts as in one.
    """

    texts: int
    length: float
    with_word: Mapping[str, int]
    k1: float = K1
    b: float = B
    english: bool = False

    def scores(self, queries: Sequence[str], passages: Sequence[str], pairs: np.ndarray) -> np.ndarray:
        """Return BM25 of each pair (n, 2) of a query and a passage by row, (n,) float64, as `Bm25` scores it."""
        query_rows, of_query = np.unique(pairs[:, 0], return_inverse=True)
        passage_rows, of_passage = np.unique(pairs[:, 1], return_inverse=True)
        words = words_of([queries[row] for row in query_rows], self.english)
        counts = [
            Counter(passage_words) for passage_words in words_of([passages[row] for row in passage_rows], self.english)
        ]
        norms = [self.k1 * (1 - self.b + self.b * passage_words.total() / self.length) for passage_words in counts]
        weights = {word: self._weight(word) for query_words in words for word in query_words}

        def score(query: int, passage: int) -> float:
            count = counts[passage]
            norm = norms[passage]
            return sum(weights[word] * count[word] / (count[word] + norm) for word in words[query] if word in count)

        values = (score(q, p) for q, p in zip(of_query.tolist(), of_passage.tolist(), strict=True))
        return np.fromiter(values, dtype=np.float64, count=len(pairs))

    def _weight(self, word: str) -> float:
        n = self.with_word.get(word, 1)
        return math.log(1 + (self.texts - n + 0.5) / (n + 0.5))

    def save(self, path: Path) -> None:
        """Write the counts to the file, as compressed JSON."""
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump(asdict(self), file, ensure_ascii=False)


def count_words(texts: Sequence[str], k1: float = K1, b: float = B, english: bool = False) -> WordCounts:
    """Return the counts of these texts. Raises ValueError if no text has a word."""
    words = words_of(texts, english)
    total = sum(map(len, words))
    if not total:
        raise ValueError("no text contains a word to search by")
    counts = Counter(word for text_words in words for word in set(text_words))
    repeated = {word: n for word, n in counts.items() if n > 1}
    return WordCounts(len(texts), total / len(texts), repeated, k1, b, english)


def load_word_counts(path: Path) -> WordCounts:
    """Load what `WordCounts.save` wrote. Raises InputError where the file cannot be read."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return WordCounts(**json.load(file))
    except (OSError, EOFError, ValueError, TypeError) as error:
        raise InputError(f"{path}: the word counts cannot be read ({error}): run the pipeline again") from None
