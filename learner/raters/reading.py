"""Read a language model's answer: what it says, and how sure it is."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from allpairs.db.domain import Verdict

SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "enum": [one.value for one in Verdict]},
        "p": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["answer", "p"],
    "additionalProperties": False,
}
OBJECT = re.compile(r"\{[^{}]*\}")


class Said(NamedTuple):
    """One answer of a model, and its probability of a match, if it gives one."""

    verdict: Verdict
    p: float | None


def read_choice(choice: Mapping[str, Any]) -> Said | None:
    """Return what a choice of a chat completion says; None if it is no answer.

    p is that of the token yes against no where the endpoint gives log-probabilities, else what the model states.
    """
    content = (choice.get("message") or {}).get("content")
    found = _object(content) if isinstance(content, str) else None
    if found is None:
        return None
    verdict, stated = found
    return Said(verdict, stated if (p := _by_tokens(choice.get("logprobs"))) is None else p)


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


def _object(content: str) -> tuple[Verdict, float | None] | None:
    """Return the answer of the last JSON object in the text that is one: models like to think aloud before it."""
    for text in reversed(OBJECT.findall(content)):
        try:
            found = json.loads(text)
            verdict = Verdict(str(found["answer"]).strip().lower())
        except (ValueError, KeyError):
            continue
        p = found.get("p")
        is_number = isinstance(p, int | float) and not isinstance(p, bool) and 0 <= p <= 1
        return verdict, float(p) if is_number else None
    return None


def _by_tokens(logprobs: Any) -> float | None:
    """Return the probability of the token yes against no, where the model chose between them, at the last such place.

    A word that is not among the likeliest has at most what these leave of 1.
    """
    words = (Verdict.YES.value, Verdict.NO.value)
    for token in reversed((logprobs or {}).get("content") or ()):
        if _word(token) in words:
            chances = [(_word(one), _chance(one)) for one in token.get("top_logprobs") or [token]]
            left = max(0.0, 1 - sum(chance for _, chance in chances))
            yes, no = (sum(chance for word, chance in chances if word == each) or left for each in words)
            return yes / (yes + no) if yes + no else None
    return None


def _chance(token: Mapping[str, Any]) -> float:
    log = token.get("logprob")
    return math.exp(min(0.0, log)) if isinstance(log, int | float) else 0.0


def _word(token: Mapping[str, Any]) -> str:
    return str(token.get("token", "")).strip(" \"'`.,\n").lower()
