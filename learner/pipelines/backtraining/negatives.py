"""Wrong passages from BM25: the retriever's hard negatives (Kulshreshtha et al. 2021, section 2.4)."""

from collections.abc import Sequence

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.search.bm25 import Bm25

SPARE = 30  # extra passages, in case some are right or contain the answer


def near_by_words(
    questions: Sequence[str], passages: Sequence[str], k: int, progress: Progress = no_progress
) -> np.ndarray:
    """Return rows (n, k) int64 of each question's best passages by BM25; fewer columns for fewer passages.

    Raises InputError if no passage has a word.
    """
    try:
        index = Bm25(passages)
    except ValueError:
        raise InputError("no passage has a word that BM25 can index: check the passages") from None
    return index.search([text.rstrip(" ?") or text for text in questions], k, progress).ids


def wrong_rows(
    near: np.ndarray, right: np.ndarray, passages: Sequence[str], k: int, answers: Sequence[str] | None = None
) -> np.ndarray:
    """Return rows (n, k) int64 of passages that are wrong for each question, best first.

    near: (n, m) candidates, best first; right: (n,) rows of the right passages; answers: of each question, empty if
    unknown; no wrong passage contains one. A question with fewer than k repeats its own; one with none gets the passage
    after its right one.
    """
    rows_of_wrong = np.empty((len(near), k), dtype=np.int64)
    for place, (rows, right_row) in enumerate(zip(near.tolist(), right.tolist(), strict=True)):
        answer = answers[place] if answers is not None else ""
        wrong = [row for row in rows if row != right_row and not holds(passages[row], answer)][:k]
        wrong = wrong or [(right_row + 1) % len(passages)]
        rows_of_wrong[place] = [wrong[number % len(wrong)] for number in range(k)]
    return rows_of_wrong


def holds(passage: str, answer: str) -> bool:
    """Return whether the passage contains the answer verbatim, in SQuAD's normal form; an empty answer is in none."""
    normal_form = squad_form(answer)
    return bool(normal_form) and f" {normal_form} " in f" {squad_form(passage)} "
