"""The prompt's version and its estimate of tokens; the pace of requests."""

from dataclasses import replace

import pytest

from allpairs.db.domain import Verdict
from allpairs.learner.raters.patience import Pace
from allpairs.learner.raters.prompt import Example, Prompt

PROMPT = Prompt("Same?", "Rules", (Example("a", "b", Verdict.YES),))


def test_a_version_is_of_all_that_is_said_before_the_pair() -> None:
    others = [
        replace(PROMPT, question="Alike?"), replace(PROMPT, guidelines=""), replace(PROMPT, examples=()),
        replace(PROMPT, examples=(Example("a", "b", Verdict.NO),)),
    ]  # fmt: skip
    versions = {one.version for one in (PROMPT, *others)}
    assert len(versions) == 5 and replace(PROMPT).version == PROMPT.version and len(PROMPT.version) == 8


def test_tokens_grow_with_the_texts() -> None:
    assert PROMPT.tokens("x" * 300, "y") - PROMPT.tokens("", "y") == pytest.approx(100, abs=1)
    assert PROMPT.tokens("中" * 100, "") - PROMPT.tokens("", "") == pytest.approx(100, abs=1)


def test_a_pace_is_even_and_no_limit_never_waits() -> None:
    at, waits = [0.0], list[float]()

    def wait(seconds: float) -> None:
        waits.append(seconds)
        at[0] += seconds

    pace = Pace(120, lambda: at[0], wait)
    for _ in range(3):
        pace.step()
    at[0] += 10  # a slow answer leaves no debt
    pace.step()
    pace.step()
    assert waits == [0.5, 0.5, 0.5]
    Pace(0, wait=wait).step()
    assert len(waits) == 3
