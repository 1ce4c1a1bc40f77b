"""Read a language model's answer: what it says, and how sure it is.

The schema of a chat completion is as strict as what is stored needs: an answer that does not fit is *malformed*.
"""

import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator

from allpairs.db.domain import Verdict

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
MOST_TOKENS = 10_000_000  # that an endpoint may report of one answer: no prompt is as long


def _if_valid(value: Any, validate: Any) -> Any:
    """Return the value, or None for one that does not fit."""
    try:
        return validate(value)
    except ValidationError:
        return None


def _plain_word(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


IfValid = WrapValidator(_if_valid)
Tokens = Annotated[int, Field(gt=0, le=MOST_TOKENS)]
LogProbability = Annotated[float, Field(le=0.01, allow_inf_nan=False)]  # above 0 by rounding alone


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Likely(_Strict):
    """A token that the model might have chosen, with the logarithm of its probability."""

    token: str
    logprob: LogProbability | None = None


class Token(Likely):
    """A token of the answer, and what else was likely at its place."""

    top_logprobs: list[Likely] | None = None


class Logprobs(_Strict):
    """How sure the model was of each token."""

    content: list[Token] | None = None


class ChatMessage(_Strict):
    """What the model writes."""

    content: str | None = None


class Choice(_Strict):
    """One of the answers to a request."""

    message: ChatMessage
    logprobs: Logprobs | None = None


class TokenCounts(_Strict):
    """How many tokens the endpoint counts; None for what it does not count, or counts absurdly."""

    prompt_tokens: Annotated[Tokens | None, IfValid] = None
    completion_tokens: Annotated[Tokens | None, IfValid] = None


class Completion(_Strict):
    """The answer of an OpenAI-compatible endpoint, as far as it is read."""

    choices: list[Choice] = []
    usage: Annotated[TokenCounts | None, IfValid] = None


class Statement(_Strict):
    """The object that a model is asked to write; p is None if it states none from 0 to 1."""

    answer: Annotated[Verdict, BeforeValidator(_plain_word)]
    p: Annotated[Annotated[float, Field(ge=0, le=1)] | None, IfValid] = None


class ModelAnswer(NamedTuple):
    """One answer of a model, and its probability of a match, if it gives one."""

    verdict: Verdict
    p: float | None


def read_choice(choice: Choice) -> ModelAnswer | None:
    """Return what a choice of a chat completion says; None if it is no answer.

    p is that of the token yes against no where the endpoint gives log-probabilities, else what the model states.
    """
    statement = _last_statement(choice.message.content or "")
    if statement is None:
        return None
    p = _by_tokens(choice.logprobs)
    return ModelAnswer(statement.answer, statement.p if p is None else p)


def combine_answers(answers: Sequence[ModelAnswer]) -> ModelAnswer:
    """Return what several answers to the same question say in all: most of them decide, p is the share of yes.

    Equal numbers of yes and no abstain, and so do answers of which half or more abstain.
    """
    if len(answers) == 1:
        return answers[0]
    yes, no = (sum(one.verdict == each for one in answers) for each in (Verdict.YES, Verdict.NO))
    sure = yes + no
    if not sure:
        return ModelAnswer(Verdict.ABSTAIN, None)
    if yes == no or 2 * sure <= len(answers):
        return ModelAnswer(Verdict.ABSTAIN, yes / sure)
    return ModelAnswer(Verdict.YES if yes > no else Verdict.NO, yes / sure)


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
