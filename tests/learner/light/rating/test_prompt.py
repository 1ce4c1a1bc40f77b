"""The prompt's version and its estimate of tokens."""

from dataclasses import replace

import pytest

from allpairs.db.domain import Verdict
from allpairs.learner.light.rating.prompt import Prompt, PromptExample

PROMPT = Prompt("Same?", "Rules", (PromptExample("a", "b", Verdict.YES),))


def test_a_version_is_of_all_that_is_said_before_the_pair() -> None:
    others = [
        replace(PROMPT, question="Alike?"), replace(PROMPT, guidelines=""), replace(PROMPT, examples=()),
        replace(PROMPT, examples=(PromptExample("a", "b", Verdict.NO),)),
    ]  # fmt: skip
    versions = {one.version for one in (PROMPT, *others)}
    assert len(versions) == 5 and replace(PROMPT).version == PROMPT.version and len(PROMPT.version) == 8


def test_tokens_grow_with_the_texts() -> None:
    assert PROMPT.tokens("x" * 300, "y") - PROMPT.tokens("", "y") == pytest.approx(100, abs=1)
    assert PROMPT.tokens("中" * 100, "") - PROMPT.tokens("", "") == pytest.approx(100, abs=1)
