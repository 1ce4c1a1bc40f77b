"""Partly right answers to questions, as training negatives (Joshi et al. 2022, section 4)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from allpairs.db.identity import identity
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.pipelines.mining.answers.entities import EntityTagger


class Asked(NamedTuple):
    """A question with a passage and an answer, right or wrong."""

    question: str
    passage: str
    answer: str


def wrong_answers(asked: Sequence[Asked], tagger: EntityTagger, n: int, rng: np.random.Generator) -> list[list[Asked]]:
    """Return, for each question, its passage with up to n other spans as answers, drawn at random.

    A span that shares all its words with a right answer of the question, or contains all of them, may be right and is
    not drawn. Spans with the same SQuAD normal form count as one, represented by the first.
    """
    right: defaultdict[tuple[str, str], set[frozenset[str]]] = defaultdict(set)
    for one in asked:
        right[_place(one)].add(frozenset(squad_form(one.answer).split()))
    found = []
    for one in asked:
        spans = _other_spans(one.passage, right[_place(one)], tagger)
        chosen = rng.choice(len(spans), min(n, len(spans)), replace=False)
        found.append([one._replace(answer=spans[at]) for at in chosen])
    return found


def _place(one: Asked) -> tuple[str, str]:
    return identity(one.question), identity(one.passage)


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
    asked: Sequence[Asked], passages: Sequence[str], n: int, rng: np.random.Generator
) -> list[list[Asked]]:
    """Return, for each question, its right answer with up to n other passages, drawn at random.

    Passages are other if their texts differ from those of the question's right pairs (see `identity`); one may still
    contain the answer's words.
    """
    keys = [identity(passage) for passage in passages]
    copies = Counter(keys)
    right: defaultdict[str, set[str]] = defaultdict(set)
    for one in asked:
        right[identity(one.question)].add(identity(one.passage))
    found = []
    for one in asked:
        own = right[identity(one.question)]
        drawn = rng.choice(len(passages), min(n + sum(copies[key] for key in own), len(passages)), replace=False)
        others = [passages[at] for at in drawn if keys[at] not in own]
        found.append([one._replace(passage=passage) for passage in others[:n]])
    return found
