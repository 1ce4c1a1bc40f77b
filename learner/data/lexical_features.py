"""The lexical similarity of two texts: four similarities, each an inner product minus an offset for each text.

Their weighted sum is thus a similarity of vectors like the encoder's cosine: it is searched, measured and stored in the
same way. Term weights are learned from the texts, without labels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, diags, hstack

from allpairs.learner.data.corpus_terms import CorpusTerms, terms_of

KINDS = ("ngrams", "words", "numbers", "length")
DIMENSIONS = 512  # of hashed terms: the error of an inner product is about 0.04


@dataclass(frozen=True)
class Lexicon:
    """The terms of a corpus's texts, and four similarities of any two of them.

    grams: TF-IDF of character trigrams; words: weighted by their rarity; numbers: the words with a digit; each sparse
    (texts, terms) float32 with unit rows, or a row of zeros. length: (texts,) from 0 to 1. vocabulary, rarity: of the
    columns of words; numbered: which of these columns are numbers.
    """

    grams: csr_matrix
    words: csr_matrix
    numbers: csr_matrix
    length: np.ndarray
    vocabulary: np.ndarray
    rarity: np.ndarray
    numbered: np.ndarray

    @cached_property
    def has_numbers(self) -> np.ndarray:
        """1 for each text with a number, else 0: (texts,) float32."""
        numbered: np.ndarray = np.diff(self.numbers.indptr) > 0
        return numbered.astype(np.float32)

    def numbers_among(self, words: np.ndarray) -> np.ndarray:
        """Return those of these columns of words that are numbers, in their order."""
        places = np.searchsorted(self.numbered, words)
        places[places == len(self.numbered)] = 0
        return words[self.numbered[places] == words] if len(self.numbered) else words[:0]

    def words_of(self, row: int) -> np.ndarray:
        """Return the columns of the words of this row's text."""
        begin, end = self.words.indptr[row : row + 2]
        columns: np.ndarray = self.words.indices[begin:end]
        return columns

    def values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the similarities of pairs of rows, (n, 4) float32 in the order of KINDS.

        n-grams and words: cosines. Numbers: 0 where both texts have the same numbers or neither has any, −1 where they
        clash. Length: 0 for equal lengths, down to −1/2.
        """
        numbers = _cosines(self.numbers, left, right)
        lacking = (self.has_numbers[left] + self.has_numbers[right]) / 2
        length = -((self.length[left] - self.length[right]) ** 2) / 2
        return np.column_stack(
            [_cosines(self.grams, left, right), _cosines(self.words, left, right), numbers - lacking, length]
        ).astype(np.float32)

    def vectors(self, weights: Mapping[str, float]) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors (texts, d) and offsets (texts,), float32: inner product minus both offsets is Σ weight·value.

        Terms are hashed to 512 columns with random signs (Weinberger et al. 2009), and rows keep their length: no
        similarity exceeds that of a text with itself.
        """
        weight = _each(weights)
        terms = hstack(
            [
                self.grams * weight["ngrams"] ** 0.5,
                self.words * weight["words"] ** 0.5,
                self.numbers * weight["numbers"] ** 0.5,
            ]
        ).tocsr()
        length = self.length * np.float32(weight["length"] ** 0.5)
        return np.column_stack([_hashed(terms), length]).astype(np.float32), self.lacking(weights)

    def lacking(self, weights: Mapping[str, float]) -> np.ndarray:
        """Return only the offsets of `vectors`, (texts,) float32."""
        weight = _each(weights)
        offset: np.ndarray = weight["numbers"] * self.has_numbers / 2 + weight["length"] * self.length**2 / 2
        return offset.astype(np.float32)

    def take(self, rows: Sequence[int]) -> "Lexicon":
        """Return the same terms for these rows only."""
        parts = {name: getattr(self, name)[rows] for name in ("grams", "words", "numbers", "length")}
        return replace(self, **parts)


def lexicon_of(texts: Sequence[str], more: Sequence[str] = ()) -> Lexicon:
    """Return the lexicon of these texts; any text may be empty.

    more: further rows that change no term and no weight; terms that the texts do not contain are ignored in them.
    """
    return lexicon_by(terms_of(texts), [*texts, *more])


def lexicon_by(terms: CorpusTerms, texts: Sequence[str]) -> Lexicon:
    """Return the lexicon of these texts by the terms of a corpus, which may be another one."""
    counts = terms.counts(texts)
    rarity = terms.rarity
    numbered = terms.numbered
    length = np.log1p(np.asarray(counts.sum(1)).ravel())
    return Lexicon(
        terms.tf_idf(texts),
        _unit(counts @ diags(rarity)),
        _unit(counts[:, numbered] @ diags(rarity[numbered])),
        (length / terms.longest).astype(np.float32),
        terms.vocabulary,
        rarity,
        numbered,
    )


def lexical_vectors(texts: Sequence[str]) -> np.ndarray:
    """Return vectors (texts, d) float32 whose products are lexical similarities of equal weights, from about 0 to 1."""
    return lexicon_of(texts).vectors({"ngrams": 0.5, "words": 0.5})[0]


def _each(weights: Mapping[str, float]) -> dict[str, float]:
    return {kind: float(weights.get(kind, 0.0)) for kind in KINDS}


def _cosines(terms: csr_matrix, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.asarray(terms[left].multiply(terms[right]).sum(1), dtype=np.float32).ravel()


def _unit(terms: csr_matrix) -> csr_matrix:
    norms = np.sqrt(np.asarray(terms.multiply(terms).sum(1)).ravel())
    unit: csr_matrix = (diags((1 / np.maximum(norms, 1e-9)).astype(np.float32)) @ terms).tocsr()
    unit.eliminate_zeros()
    return unit.astype(np.float32)


def _hashed(terms: csr_matrix) -> np.ndarray:
    """Return rows (texts, 512) as long as those of `terms`; each column is added to or subtracted from a random one."""
    rng = np.random.default_rng(0)
    n = terms.shape[1]
    signs = rng.choice(np.array([-1, 1], dtype=np.float32), n)
    places = rng.integers(DIMENSIONS, size=n)
    hashing = csr_matrix((signs, places, np.arange(n + 1)), (n, DIMENSIONS))  # one number in each row
    hashed: np.ndarray = (terms @ hashing).toarray()
    lengths = np.sqrt(np.asarray(terms.multiply(terms).sum(1)))
    hashed_lengths = np.linalg.norm(hashed, axis=1, keepdims=True)
    return hashed * (lengths / np.maximum(hashed_lengths, 1e-9)).astype(np.float32)
