"""What an endpoint answers is read by one strict schema: whatever comes is bounded, or none."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from allpairs.db.domain import Verdict
from allpairs.learner.light.rating.prompt import MOST_ANSWER
from allpairs.learner.raters.endpoint import read_completion
from allpairs.learner.raters.rating import PairRating
from allpairs.learner.raters.reading import MOST_TOKENS, read_choice
from tests.helpers.machine import examples
from tests.helpers.raters import PROMPT, completion, rate


def logprobs(*chosen: object) -> bytes:
    """Return a completion whose tokens have these logarithms of probabilities."""
    tokens = [{"token": "yes", "logprob": one, "top_logprobs": [{"token": "yes", "logprob": one}]} for one in chosen]
    return completion('{"answer": "yes", "p": 0.5}', {"content": tokens})[2]


ODD = {
    "a log-probability that is none": logprobs(math.nan),
    "a log-probability without an end": logprobs(-math.inf),
    "a log-probability of more than certain": logprobs(7),
    "a log-probability in words": logprobs("-0.1"),
    "a huge log-probability": logprobs(10**400),
    "deep JSON": b'{"choices": ' + b"[" * 100_000,
    "deep JSON where nobody looks": b'{"choices": [], "more": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "half an object": b'{"choices": [{"message"',
    "half a character": b'{"choices": "\xff"}',
    "no choice": b'{"choices": []}',
    "no choices": b"{}",
    "a string for a list": b'{"choices": "yes"}',
    "a list for an object": b'{"choices": [[]]}',
    "a string for an object": b'{"choices": [{"message": "yes"}]}',
    "a list for a string": b'{"choices": [{"message": {"content": [{"text": "yes"}]}}]}',
    "a string for tokens": completion('{"answer": "yes"}', {"content": "yes"})[2],
    "a list for log-probabilities": completion('{"answer": "yes"}', ["yes"])[2],
    "a number for a token": completion('{"answer": "yes"}', {"content": [{"token": 1, "logprob": 0}]})[2],
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_a_malformed_answer_is_none(body: bytes) -> None:
    """It costs as much as it may, and after three of them the pair is an abstention."""
    assert rate(lambda *_: (200, {}, body)) == PairRating(
        Verdict.ABSTAIN, None, 3 * PROMPT.tokens("x", "y"), 3 * MOST_ANSWER
    )


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.sampled_from([2**62, 10**400]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["token", "logprob"]), inner),
    max_leaves=3,
)


@settings(max_examples=examples(100))
@given(st.data())
def test_whatever_comes_is_bounded(data: st.DataObject) -> None:
    """Values of any type at every place of an answer that is read."""

    def maybe(usual: object) -> object:
        return data.draw(anything) if data.draw(st.integers(0, 9)) == 0 else usual

    token = {"token": maybe("yes"), "logprob": maybe(-0.1), "top_logprobs": maybe([{"token": "no", "logprob": -3}])}
    choice = {
        "message": maybe({"content": maybe('{"answer": "yes", "p": 0.7}')}),
        "logprobs": maybe({"content": maybe([maybe(token)])}),
    }
    usage = maybe({"prompt_tokens": maybe(100), "completion_tokens": maybe(10)})
    body = json.dumps({"choices": maybe([maybe(choice)]), "usage": usage}).encode()
    found = read_completion(body)
    said = read_choice(found.choices[0]) if found.choices else None
    assert said is None or said.p is None or 0 <= said.p <= 1
    counted = [] if found.usage is None else [found.usage.prompt_tokens, found.usage.completion_tokens]
    assert all(tokens is None or 0 < tokens <= MOST_TOKENS for tokens in counted)


@pytest.mark.parametrize("tokens", ["many", 2**62, 10**30, -5, 0, 0.5, True, math.nan, math.inf, [100], None])
def test_absurd_counts_are_none(tokens: object) -> None:
    body = {"choices": [], "usage": {"prompt_tokens": tokens, "completion_tokens": 10}}
    usage = read_completion(json.dumps(body).encode()).usage
    assert usage is not None and (usage.prompt_tokens, usage.completion_tokens) == (None, 10)
