"""Read a language model's answer: what it says, and how sure it is."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic import ValidationError

from allpairs.db.domain import Verdict
from allpairs.learner.raters.answers import Choice, Likely, Logprobs, Statement

SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": [verdict.value for verdict in Verdict]},
        "p": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["answer", "p"],
    "additionalProperties": False,
}
OBJECT = re.compile(r"\{[^{}]*\}")
MOST_OBJECTS = 100  # of an answer that are read: it has one, and a megabyte of others would hold the worker


class Said(NamedTuple):
    """One answer of a model, and its probability of a match, if it gives one."""

    verdict: Verdict
    p: float | None


def read_choice(choice: Choice) -> Said | None:
    """Return what a choice of a chat completion says; None if it is no answer.

    p is that of the token yes against no where the endpoint gives log-probabilities, else what the model states.
    """
    statement = _last_statement(choice.message.content or "")
    if statement is None:
        return None
    p = _by_tokens(choice.logprobs)
    return Said(statement.answer, statement.p if p is None else p)


def together(said: Sequence[Said]) -> Said:
    """Return what several answers to the same question say in all: most of them decide, p is the share of yes.

    Equal numbers of yes and no abstain, and so do answers of which half or more abstain.
    """
    if len(said) == 1:
        return said[0]
    yes, no = (sum(one.verdict == each for one in said) for each in (Verdict.YES, Verdict.NO))
    sure = yes + no
    if not sure:
        return Said(Verdict.ABSTAIN, None)
    if yes == no or 2 * sure <= len(said):
        return Said(Verdict.ABSTAIN, yes / sure)
    return Said(Verdict.YES if yes > no else Verdict.NO, yes / sure)


def _last_statement(content: str) -> Statement | None:
    """Return the last JSON object in the text that is an answer: models like to think aloud before it."""
    for text in reversed(OBJECT.findall(content)[-MOST_OBJECTS:]):
        try:
            return Statement.model_validate_json(text)
        except ValidationError:
            continue
    return None


def _by_tokens(logprobs: Logprobs | None) -> float | None:
    """Return the probability of the token yes against no, where the model chose between them, at the last such place.

    A word that is not among the likeliest has at most what these leave of 1.
    """
    words = (Verdict.YES.value, Verdict.NO.value)
    for token in reversed((logprobs and logprobs.content) or ()):
        if _word(token) in words:
            chances = [(_word(likely), _chance(likely)) for likely in token.top_logprobs or [token]]
            left = max(0.0, 1 - sum(chance for _, chance in chances))
            yes, no = (sum(chance for word, chance in chances if word == each) or left for each in words)
            return yes / (yes + no) if yes + no else None
    return None


def _chance(token: Likely) -> float:
    return 0.0 if token.logprob is None else math.exp(min(0.0, token.logprob))


def _word(token: Likely) -> str:
    return token.token.strip(" \"'`.,\n").lower()
