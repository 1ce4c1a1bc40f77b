"""Unsupervised questions: a sentence with its answer cut out and noise added (Lewis et al. 2019).

Source: Jia, Lewis and Zettlemoyer (2022), section 4.2; the order of the noise and its rates are those of the released
UnsupervisedQA.
"""

from dataclasses import dataclass

import numpy as np

from allpairs.learner.models.likely_sentence import sentences
from allpairs.learner.pipelines.mining.answers.entities import Entity, PatternTagger

REACH = 3  # distance that words move
DROP = 0.1  # share of words dropped
BLANK = 0.2  # share of the others blanked
GAP = "BLANK"
WH = {
    "name": "Who",
    "title": "What",
    "money": "How much",
    "percentage": "How much",
    "date": "When",
    "number": "How many",
    "quantity": "How much",
    "year": "When",
}


@dataclass(frozen=True)
class Pseudo:
    """An unsupervised question, its answer, and where the answer begins in the passage."""

    question: str
    answer: str
    start: int


def pseudo_questions(passage: str, n: int, rng: np.random.Generator) -> list[Pseudo]:
    """Return n questions on a passage; fewer if it has fewer names, dates and numbers, none if it is empty."""
    spans = PatternTagger()(passage) or _words(passage)
    chosen = rng.permutation(len(spans))[:n]
    return [_pseudo(passage, spans[i], rng) for i in sorted(chosen)]


def _pseudo(passage: str, span: Entity, rng: np.random.Generator) -> Pseudo:
    around = [(a, b) for a, b in sentences(passage) if a < span.end and b > span.start]
    start = around[0][0]
    end = around[-1][1]
    left = f"{passage[start : span.start]} {passage[span.end : end]}".rstrip(" .!?")
    words = noisy(left.split(), rng)
    question = " ".join([WH.get(span.kind, "What"), *words])
    return Pseudo(f"{question}?", passage[span.start : span.end], span.start)


def noisy(words: list[str], rng: np.random.Generator) -> list[str]:
    """Return the words slightly shuffled, some dropped, some blanked."""
    order = np.argsort(np.arange(len(words)) + rng.uniform(0, REACH, len(words)), kind="stable")
    fate = rng.uniform(size=(2, len(words)))
    return [GAP if fate[1, i] < BLANK else words[i] for i in order.tolist() if fate[0, i] >= DROP]


def _words(passage: str) -> list[Entity]:
    """Return every word as an answer, for passages without anything better."""
    words = []
    start = 0
    for word in passage.split():
        start = passage.index(word, start)
        words.append(Entity(start, start + len(word), "word"))
        start += len(word)
    return words
