"""Spans of a passage that may answer a question: names, dates, numbers (paper 000, section 4: candidate answers).

The paper takes them from a model of spaCy. The tagger here needs none: patterns for English, and a list of names where
there is one. Kinds are looked for one after the other, and what one has taken is not there for the next: no overlaps.
"""

import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from db.errors import InputError
from learner.models.likely_sentence import sentences
from learner.pipelines.mining.patterns import FUNCTION_WORDS, NAME, PATTERNS, TAKEN, WORD

_UNLIKE_WORDS = re.compile(r"\s|\d|\w[A-Z]")  # two words, a digit, a capital inside: no word of a dictionary


class Entity(NamedTuple):
    """A span of a text, `text[start:end]`, and its kind."""

    start: int
    end: int
    kind: str


class EntityTagger(Protocol):
    """The spans of a text that may be answers, in their order; none overlap."""

    def __call__(self, text: str) -> list[Entity]: ...


@dataclass(frozen=True)
class PatternTagger:
    """Finds spans by patterns, and each name of a list wherever it stands in this spelling, between word borders."""

    names: Sequence[str] = ()

    def __call__(self, text: str) -> list[Entity]:
        found = list(self._listed(text))
        free = _without(text, found)
        for kind, pattern in PATTERNS.items():
            spans = _names(free, text) if kind == NAME else (match.span() for match in pattern.finditer(free))
            new = [Entity(*span, kind) for span in spans]
            free = _without(free, new)
            found += new
        return sorted(found)

    def _listed(self, text: str) -> Iterator[Entity]:
        """The names of the list, the longest where several begin."""
        last = 0
        for word in re.finditer(r"\w+", text):
            for lead, name in self._by_word.get(word[0], ()):
                start, end = word.start() - lead, word.start() - lead + len(name)
                if start >= last and text.startswith(name, start) and not text[end : end + 1].isalnum():
                    yield Entity(start, end, NAME)
                    last = end
                    break

    @cached_property
    def _by_word(self) -> dict[str, list[tuple[int, str]]]:
        """The names by their first word, and where it begins in them; the longest name first."""
        found = defaultdict(list)
        for name in sorted(set(self.names), key=len, reverse=True):
            if first := re.search(r"\w+", name):
                found[first[0]].append((first.start(), name))
        return dict(found)


def _without(text: str, found: Iterable[Entity]) -> str:
    """The text, as long as it was, without the words of these spans."""
    for entity in found:
        text = text[: entity.start] + TAKEN * (entity.end - entity.start) + text[entity.end :]
    return text


def _names(free: str, text: str) -> Iterator[tuple[int, int]]:
    """Where runs of capitalised words lie, without words such as `The` at the beginning of a sentence.

    A single word that begins a sentence is one where it is capitalised within a sentence too, or spelled like no other.
    """
    begins = {start + first.start() for start, end in sentences(text) if (first := re.search(r"\w", text[start:end]))}
    runs = [match.span() for match in PATTERNS[NAME].finditer(free)]
    inside = {word[0] for run in runs for word in WORD.finditer(free, *run) if word.start() not in begins}
    for begin, end in runs:
        start = _after_function_words(free, begin, end) if begin in begins else begin
        name = free[start:end]
        if name and (start not in begins or name in inside or _UNLIKE_WORDS.search(name)):
            yield start, end


def _after_function_words(text: str, start: int, end: int) -> int:
    """Where the first word of the run begins that may be part of a name; its end where there is none."""
    words = WORD.finditer(text, start, end)
    return next((word.start() for word in words if word[0].lower() not in FUNCTION_WORDS), end)


def spacy_tagger(model: str) -> EntityTagger:
    """The entities of a model of spaCy, which names their kinds.

    Raises InputError where spaCy or the model is not installed.
    """
    try:
        spacy: Any = importlib.import_module("spacy")
    except ImportError:
        raise InputError("spaCy is not installed: install it (pip install spacy), or name no model") from None
    try:
        tag = spacy.load(model)
    except OSError:
        raise InputError(
            f"spaCy has no model {model!r}: install it (python -m spacy download {model}), or name no model"
        ) from None
    return lambda text: [Entity(one.start_char, one.end_char, one.label_) for one in tag(text).ents]
