"""Partly right answers to questions, as training negatives (Joshi et al. 2022, section 4)."""

from collections import Counter
from collections.abc import Sequence
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

    A span that shares all its words with the right answer, or contains all of them, may be right and is not drawn.
    Spans with the same SQuAD normal form count as one, represented by the first.
    """
    found = []
    for one in asked:
        spans = _other_spans(one, tagger)
        chosen = rng.choice(len(spans), min(n, len(spans)), replace=False)
        found.append([one._replace(answer=spans[at]) for at in chosen])
    return found


def _other_spans(one: Asked, tagger: EntityTagger) -> list[str]:
    """Return the passage's spans that neither are part of the right answer nor contain it, in order."""
    right = set(squad_form(one.answer).split())
    spans: dict[str, str] = {}
    for start, end, _ in tagger(one.passage):
        form = squad_form(one.passage[start:end])
        words = set(form.split())
        if words and not words <= right and not right <= words:
            spans.setdefault(form, one.passage[start:end])
    return list(spans.values())


def wrong_passages(
    asked: Sequence[Asked], passages: Sequence[str], n: int, rng: np.random.Generator
) -> list[list[Asked]]:
    """Return, for each question, its right answer with up to n other passages, drawn at random.

    Passages are other if their texts differ (see `identity`); one may still contain the answer's words.
    """
    keys = [identity(passage) for passage in passages]
    copies = Counter(keys)
    found = []
    for one in asked:
        own = identity(one.passage)
        drawn = rng.choice(len(passages), min(n + copies[own], len(passages)), replace=False)
        others = [passages[at] for at in drawn if keys[at] != own]
        found.append([one._replace(passage=passage) for passage in others[:n]])
    return found
