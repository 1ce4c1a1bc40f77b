"""Features of two texts read together, beyond what an inner product of two vectors holds."""

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_matrix, diags

from allpairs.db.identity import identity
from allpairs.learner.data.lexical_features import Lexicon

PRICE = re.compile(r"(?<![\d.,])\d+[.,]\d\d(?![\d.,]?\d)")  # an amount with two decimals
MOST_APART = 2.0  # of two prices' logarithms: a larger ratio tells no more
CHUNK = 8_192  # pairs whose words are compared at once
# Each feature, whether it may speak for a match (+1) or against one (-1) or both (0), and the part it belongs to.
TEXT_FEATURES = {
    "containment": (1, "shared words"),
    "rarest_shared": (1, "shared words"),
    "rarest_odd_of_one": (-1, "odd words"),
    "rarest_odd_of_other": (-1, "odd words"),
    "numbers_shared": (1, "numbers"),
    "numbers_odd": (-1, "numbers"),
    "numbers_clash": (-1, "numbers"),
    "codes_shared": (1, "numbers"),
    "codes_odd": (-1, "numbers"),
    "codes_clash": (-1, "numbers"),
    "prices_known": (0, "price"),
    "prices_apart": (-1, "price"),
}


class TextFeatures:
    """The features of any pairs of these texts; lexicon: of the same texts, in the same order."""

    def __init__(self, texts: Sequence[str], lexicon: Lexicon, symmetric: bool) -> None:
        self.texts = texts
        self.lexicon = lexicon
        self.symmetric = symmetric
        self.words = _counted(lexicon.words)
        self.weighted = (self.words @ diags(lexicon.rarity)).tocsr().astype(np.float32)

    def values(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Return the features of pairs of rows, (n, 12) float32 in the order of TEXT_FEATURES."""
        parts = [np.empty((0, len(TEXT_FEATURES)), dtype=np.float32)]
        for start in range(0, len(left), CHUNK):
            rows = left[start : start + CHUNK], right[start : start + CHUNK]
            columns = [*self._words(*rows), *self._numbers(*rows), *self._prices(*rows)]
            parts.append(np.column_stack(columns).astype(np.float32))
        return np.concatenate(parts)

    def _words(self, left: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
        """Yield containment, by rarity, in the text with less; the rarest shared word's rarity, and each one's odd."""
        left_weights = self.weighted[left]
        right_weights = self.weighted[right]
        shared = left_weights.multiply(self.words[right]).tocsr()
        less = np.minimum(_sums(left_weights), _sums(right_weights))
        rarest = max(float(self.lexicon.rarity.max(initial=0.0)), 1e-6)
        yield _sums(shared) / np.maximum(less, 1e-6)
        yield _most(shared) / rarest
        odd = (
            _most(left_weights - shared) / rarest,
            _most(right_weights - right_weights.multiply(self.words[left])) / rarest,
        )
        yield from (np.minimum(*odd), np.maximum(*odd)) if self.symmetric else odd

    def _numbers(self, left: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
        """Yield for numbers, then for codes: shared ones, ones in one text only, and whether both have only such."""
        for counts in self._kinds:
            left_counts = counts[left]
            right_counts = counts[right]
            shared = _sums(left_counts.multiply(right_counts))
            left_total = _sums(left_counts)
            right_total = _sums(right_counts)
            yield np.log1p(shared)
            yield np.log1p(left_total + right_total - 2 * shared)
            yield (shared == 0) & (left_total > 0) & (right_total > 0)

    def _prices(self, left: np.ndarray, right: np.ndarray) -> Iterator[np.ndarray]:
        """Yield whether both texts have a price, and how far the closest two are apart: 0 where one is missing."""
        pairs = [
            (self._amounts[left_row], self._amounts[right_row]) for left_row, right_row in zip(left, right, strict=True)
        ]
        known = np.array(
            [bool(len(left_amounts) and len(right_amounts)) for left_amounts, right_amounts in pairs], dtype=bool
        )
        yield known
        yield np.array([_apart(*pair) if is_known else 0.0 for pair, is_known in zip(pairs, known, strict=True)])

    @cached_property
    def _kinds(self) -> tuple[csr_matrix, csr_matrix]:
        """The words that are numbers, and those of digits and letters, as 1 where a text has them."""
        numbered = self.lexicon.numbered
        is_code = np.array([any(map(str.isalpha, word)) for word in self.lexicon.vocabulary[numbered]], dtype=bool)
        return self.words[:, numbered[~is_code]], self.words[:, numbered[is_code]]

    @cached_property
    def _amounts(self) -> list[np.ndarray]:
        """The logarithms of each text's prices."""
        matches = (PRICE.findall(identity(text)) for text in self.texts)
        return [np.log([max(float(amount.replace(",", ".")), 0.01) for amount in amounts]) for amounts in matches]


def _counted(words: csr_matrix) -> csr_matrix:
    """Return 1 where a text has a word."""
    counted = words.copy()
    counted.data = np.ones_like(counted.data)
    return counted


def _sums(rows: csr_matrix) -> np.ndarray:
    return np.asarray(rows.sum(1), dtype=np.float32).ravel()


def _most(rows: csr_matrix) -> np.ndarray:
    if not rows.shape[1]:
        return np.zeros(rows.shape[0], dtype=np.float32)
    return np.asarray(rows.max(1).todense(), dtype=np.float32).ravel()


def _apart(left_amounts: np.ndarray, right_amounts: np.ndarray) -> float:
    return min(MOST_APART, float(np.abs(left_amounts[:, None] - right_amounts).min()))
