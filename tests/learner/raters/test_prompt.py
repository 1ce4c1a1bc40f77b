"""The prompt's version and its estimate of tokens."""

from dataclasses import replace

import pytest

from allpairs.db.domain import Verdict
from allpairs.db.raters.costs import prompt_tokens
from allpairs.db.raters.pairs import Labelled
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


@pytest.mark.parametrize("examples", [0, 6])
@pytest.mark.parametrize("text", ["", "How do I print two pages on one sheet? " * 3])
def test_the_apps_estimate_is_that_of_the_prompt(examples: int, text: str) -> None:
    """The app, which does not load the learner, estimates by constants of its own."""
    shown = [Labelled(1, 2, text, text, at % 2 == 0) for at in range(examples)]
    prompt = Prompt("Same?", text, tuple(Example(text, text, Verdict.YES) for _ in shown))
    assert prompt_tokens("Same?", text, shown, text, text) == pytest.approx(prompt.tokens(text, text), rel=0.1)
