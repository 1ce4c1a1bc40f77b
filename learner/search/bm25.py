"""BM25: texts ranked by the words they share with a query, rare words weighing more than common ones."""

import logging
from collections.abc import Sequence
from typing import Any

import bm25s
import numpy as np

from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work, slices
from allpairs.learner.search.exact import Neighbours

# tuned on MS MARCO passages (Ju, Yang and Wang 2021, section 3)
K1 = 0.82
B = 0.68
QUERIES = 512  # searched at once
WORD = r"(?u)\b\w+\b"
# Lucene's English stop words, which Anserini (the first stage of Ju, Yang and Wang 2021) leaves out.
STOP_WORDS = [
    "a",
    "an",
    "and",
    "are",
    "as",
    "at",
    "be",
    "but",
    "by",
    "for",
    "if",
    "in",
    "into",
    "is",
    "it",
    "no",
    "not",
    "of",
    "on",
    "or",
    "such",
    "that",
    "the",
    "their",
    "then",
    "there",
    "these",
    "they",
    "this",
    "to",
    "was",
    "will",
    "with",
]


class Bm25:
    """An index of texts. Words are lower-cased runs of letters and digits.

    english: stop words are left out, and words are compared by Porter's stems.
    """

    def __init__(self, texts: Sequence[str], k1: float = K1, b: float = B, english: bool = False) -> None:
        """Index the texts. Raises ValueError if no text has a word."""
        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it logs every index at debug level
        self.english = english
        words = words_of(texts, english)
        if not any(words):
            raise ValueError("no text contains a word to search by")
        self.index: Any = bm25s.BM25(method="lucene", k1=k1, b=b)
        self.size = len(texts)
        self.index.index(words, show_progress=False)

    def search(
        self, queries: Sequence[str], k: int, progress: Progress = no_progress, engine: Engine | None = None
    ) -> Neighbours:
        """Return the k best texts of each query: ids (n, k) int64, scores (n, k) float32; k ≤ number of texts."""
        engine = engine or default_engine()
        parts = [queries[part] for part in slices(len(queries), QUERIES)]
        results = list(engine.map(_searching, (self, k), parts, "search", progress, on_device=False))
        return Neighbours(*(np.concatenate(arrays) for arrays in zip(*results, strict=True)))


def _searching(index: Bm25, k: int) -> Work[Sequence[str], Neighbours]:
    """Return the work that runs `Bm25.search` on some of the queries."""
    most = min(k, index.size)

    def work(queries: Sequence[str], progress: Progress) -> Neighbours:
        if not len(queries):
            return Neighbours(np.empty((0, most), dtype=np.int64), np.empty((0, most), dtype=np.float32))
        words = words_of(queries, index.english)
        # by itself bm25s would take JAX where it finds it, which breaks ties in another way
        ids, scores = index.index.retrieve(words, k=most, show_progress=False, backend_selection="numpy")
        progress("search", 1.0)
        return Neighbours(ids.astype(np.int64), scores.astype(np.float32))

    return work


def words_of(texts: Sequence[str], english: bool) -> list[list[str]]:
    """Return the words of each text, lower-cased; english: stems, without stop words."""
    tokens: list[list[str]] = bm25s.tokenize(
        list(map(identity, texts)),
        token_pattern=WORD,
        stopwords=STOP_WORDS if english else None,
        stemmer=_stems if english else None,
        return_ids=False,
        show_progress=False,
    )
    return tokens


def _stems(words: Sequence[str]) -> list[str]:
    """Return the stem of each word. Source: Porter (1980)."""
    from nltk.stem.porter import PorterStemmer  # seconds to import

    stemmer = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM)
    return [stemmer.stem(word) for word in words]
