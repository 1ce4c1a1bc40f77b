"""The schema of a chat completion, as strict as what is stored needs: an answer that does not fit is *malformed*."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WrapValidator

from allpairs.db.domain import Verdict

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


class Usage(_Strict):
    """How many tokens the endpoint counts; None for what it does not count, or counts absurdly."""

    prompt_tokens: Annotated[Tokens | None, IfValid] = None
    completion_tokens: Annotated[Tokens | None, IfValid] = None


class Completion(_Strict):
    """The answer of an OpenAI-compatible endpoint, as far as it is read."""

    choices: list[Choice] = []
    usage: Annotated[Usage | None, IfValid] = None


class Statement(_Strict):
    """The object that a model is asked to write; p is None if it states none from 0 to 1."""

    answer: Annotated[Verdict, BeforeValidator(_plain_word)]
    p: Annotated[Annotated[float, Field(ge=0, le=1)] | None, IfValid] = None
