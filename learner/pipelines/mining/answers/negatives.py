"""Partly right answers to questions, as training negatives (Joshi et al. 2022, section 4)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from allpairs.db.identity import identity
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.pipelines.mining.answers.entities import EntityTagger


class PassageAnswer(NamedTuple):
    """A question with a passage and an answer, right or wrong."""

    question: str
    passage: str
    answer: str


def wrong_answers(
    questions: Sequence[PassageAnswer], tagger: EntityTagger, n: int, rng: np.random.Generator
) -> list[list[PassageAnswer]]:
    """Return, for each question, its passage with up to n other spans as answers, drawn at random.

    A span that shares all its words with a right answer of the question, or contains all of them, may be right and is
    not drawn. Spans with the same SQuAD normal form count as one, represented by the first.
    """
    right: defaultdict[tuple[str, str], set[frozenset[str]]] = defaultdict(set)
    for question in questions:
        right[_place(question)].add(frozenset(squad_form(question.answer).split()))
    wrong = []
    for question in questions:
        spans = _other_spans(question.passage, right[_place(question)], tagger)
        chosen = rng.choice(len(spans), min(n, len(spans)), replace=False)
        wrong.append([question._replace(answer=spans[row]) for row in chosen])
    return wrong


def _place(question: PassageAnswer) -> tuple[str, str]:
    return identity(question.question), identity(question.passage)


def _other_spans(passage: str, answers: Collection[frozenset[str]], tagger: EntityTagger) -> list[str]:
    """Return the passage's spans that neither are part of an answer nor contain one, in order; answers: their words."""
    spans: dict[str, str] = {}
    for start, end, _ in tagger(passage):
        form = squad_form(passage[start:end])
        words = set(form.split())
        if words and not any(words <= right or right <= words for right in answers):
            spans.setdefault(form, passage[start:end])
    return list(spans.values())


def wrong_passages(
    questions: Sequence[PassageAnswer], passages: Sequence[str], n: int, rng: np.random.Generator
) -> list[list[PassageAnswer]]:
    """Return, for each question, its right answer with up to n other passages, drawn at random.

    Passages are other if their texts differ from those of the question's right pairs (see `identity`); one may still
    contain the answer's words.
    """
    keys = [identity(passage) for passage in passages]
    copies = Counter(keys)
    right: defaultdict[str, set[str]] = defaultdict(set)
    for question in questions:
        right[identity(question.question)].add(identity(question.passage))
    wrong = []
    for question in questions:
        right_keys = right[identity(question.question)]
        drawn = rng.choice(len(passages), min(n + sum(copies[key] for key in right_keys), len(passages)), replace=False)
        candidates = [passages[row] for row in drawn if keys[row] not in right_keys]
        wrong.append([question._replace(passage=passage) for passage in candidates[:n]])
    return wrong
