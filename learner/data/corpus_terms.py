"""The terms of a corpus and how rare they are: what lexical similarity learns from the texts, without labels."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from allpairs.db.files.arrays import require_array
from allpairs.db.identity import identity

WORD = re.compile(r"\w+(?:[.,'’-]\w+)*")  # a decimal number, a model code or a hyphenated word is one word


@dataclass(frozen=True)
class CorpusTerms:
    """grams: character trigrams; words; gram_rarity, rarity: of each, float32; longest: log(1 + words of a text)."""

    grams: tuple[str, ...]
    gram_rarity: np.ndarray
    words: tuple[str, ...]
    rarity: np.ndarray
    longest: float

    @cached_property
    def numbered(self) -> np.ndarray:
        """The places of the words with a digit, ascending int64."""
        return np.flatnonzero([any(c.isdigit() for c in word) for word in self.words])

    def tf_idf(self, texts: Sequence[str]) -> csr_matrix:
        """Return TF-IDF of character trigrams, (texts, grams) float32 with unit rows; others are ignored."""
        return self._gram_counter.transform(texts).tocsr()

    def counts(self, texts: Sequence[str]) -> csr_matrix:
        """Return 1 where a text has a word, (texts, words) float32; other words are ignored."""
        return self._word_counter.transform(texts).tocsr()

    @cached_property
    def vocabulary(self) -> np.ndarray:
        """The words as an array of objects, (words,)."""
        return np.array(self.words, dtype=object)

    @cached_property
    def _gram_counter(self) -> TfidfVectorizer:
        """Kept, since its look-up table of very many terms takes longer to make than to use."""
        vectorizer = _trigrams(self.grams)
        vectorizer.idf_ = self.gram_rarity
        return vectorizer

    @cached_property
    def _word_counter(self) -> CountVectorizer:
        return _words(self.words)

    def as_arrays(self) -> dict[str, np.ndarray]:
        """Return the terms as arrays that a file can hold; `read` takes them back."""
        return {
            "grams": _as_bytes(self.grams),
            "gram_rarity": self.gram_rarity,
            "words": _as_bytes(self.words),
            "rarity": self.rarity,
            "longest": np.array(self.longest),
        }

    @classmethod
    def read(cls, arrays: dict[str, np.ndarray]) -> "CorpusTerms":
        """Return the terms of `as_arrays`. Raises KeyError or ValueError if the arrays are not its own."""
        grams, words = (_as_terms(arrays[name]) for name in ("grams", "words"))
        gram_rarity = require_array(arrays["gram_rarity"], "float32", (len(grams),))
        rarity = require_array(arrays["rarity"], "float32", (len(words),))
        return cls(grams, gram_rarity, words, rarity, float(require_array(arrays["longest"], "float64", ())))


def terms_of(texts: Sequence[str]) -> CorpusTerms:
    """Return the terms of these texts; any text may be empty."""
    # An extra term that no text contains gives even a corpus of empty texts a vocabulary.
    grams = _trigrams().fit([*texts, "\0\0\0"])
    counter = _words().fit([*texts, "none"])
    counts = counter.transform(texts)
    frequencies = np.asarray(counts.sum(0)).ravel()
    length = np.log1p(np.asarray(counts.sum(1)).ravel())
    return CorpusTerms(
        tuple(grams.get_feature_names_out()),
        grams.idf_.astype(np.float32),
        tuple(counter.get_feature_names_out()),
        np.log((len(texts) + 1) / np.maximum(frequencies, 1)).astype(np.float32),
        float(max(length.max(initial=0), 1)),
    )


def lowercase_words(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return WORD.findall(_lowered(text))


def _lowered(text: str) -> str:
    return identity(text).lower()


def _trigrams(vocabulary: Sequence[str] | None = None) -> TfidfVectorizer:
    analyze = CountVectorizer(analyzer="char_wb", ngram_range=(3, 3), preprocessor=_lowered).build_analyzer()
    return TfidfVectorizer(analyzer=analyze, sublinear_tf=True, dtype=np.float32, vocabulary=vocabulary)


def _words(vocabulary: Sequence[str] | None = None) -> CountVectorizer:
    return CountVectorizer(analyzer=lowercase_words, binary=True, dtype=np.float32, vocabulary=vocabulary)


def _as_bytes(terms: Sequence[str]) -> np.ndarray:
    """Return the terms as JSON, uint8; NumPy's own strings would lose zero characters."""
    return np.frombuffer(json.dumps(terms).encode(), dtype=np.uint8)


def _as_terms(array: np.ndarray) -> tuple[str, ...]:
    terms = json.loads(require_array(array, "uint8", (None,)).tobytes())
    if not isinstance(terms, list) or not all(isinstance(term, str) for term in terms) or len(set(terms)) < len(terms):
        raise ValueError("terms that are not texts, each once")
    return tuple(terms)
