"""Spans of a passage that may answer a question: names, dates, numbers.

Source: Joshi et al. (2022), section 4, candidate answers. They use a spaCy model. The tagger here needs none: it has
patterns for English, and optionally a list of names. Kinds are searched in order, and each skips the spans that earlier
kinds took, so that none overlap.
"""

import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from allpairs.db.errors import InputError
from allpairs.learner.models.likely_sentence import sentences
from allpairs.learner.pipelines.mining.answers.patterns import BLANK, FUNCTION_WORDS, NAME, PATTERNS, WORD

_UNLIKE_WORDS = re.compile(r"\s|\d|\w[A-Z]")  # two words, a digit, a capital inside: not a dictionary word


class Entity(NamedTuple):
    """A span of a text, `text[start:end]`, and its kind."""

    start: int
    end: int
    kind: str


class EntityTagger(Protocol):
    """Returns the spans of a text that may be answers, in order; none overlap."""

    def __call__(self, text: str) -> list[Entity]: ...


@dataclass(frozen=True)
class PatternTagger:
    """Finds spans by patterns, and each listed name wherever it occurs exactly, between word boundaries."""

    names: Sequence[str] = ()

    def __call__(self, text: str) -> list[Entity]:
        entities = list(self._listed(text))
        free = _without(text, entities)
        for kind, pattern in PATTERNS.items():
            spans = _names(free, text) if kind == NAME else (match.span() for match in pattern.finditer(free))
            new = [Entity(*span, kind) for span in spans]
            free = _without(free, new)
            entities += new
        return sorted(entities)

    def _listed(self, text: str) -> Iterator[Entity]:
        """Yield the occurrences of listed names, the longest where several begin."""
        last = 0
        for word in re.finditer(r"\w+", text):
            for lead, name in self._by_word.get(word[0], ()):
                start = word.start() - lead
                end = word.start() - lead + len(name)
                if start >= last and text.startswith(name, start) and not text[end : end + 1].isalnum():
                    yield Entity(start, end, NAME)
                    last = end
                    break

    @cached_property
    def _by_word(self) -> dict[str, list[tuple[int, str]]]:
        """The names by their first word, with its offset in each name; longest name first."""
        offsets = defaultdict(list)
        for name in sorted(set(self.names), key=len, reverse=True):
            if first := re.search(r"\w+", name):
                offsets[first[0]].append((first.start(), name))
        return dict(offsets)


def _without(text: str, entities: Iterable[Entity]) -> str:
    """Return the text at equal length with these spans blanked out."""
    for entity in entities:
        text = text[: entity.start] + BLANK * (entity.end - entity.start) + text[entity.end :]
    return text


def _names(free: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of capitalised runs, without words such as `The` at the start of a sentence.

    A single word at the start of a sentence counts if it is also capitalised within a sentence, or is not spelled like
    a dictionary word.
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
    """Return the start of the run's first word that may be part of a name, or the end if there is none."""
    words = WORD.finditer(text, start, end)
    return next((word.start() for word in words if word[0].lower() not in FUNCTION_WORDS), end)


def spacy_tagger(model: str) -> EntityTagger:
    """Return the tagger of a spaCy model, which names the kinds.

    Raises InputError if spaCy or the model is not installed.
    """
    try:
        spacy: Any = importlib.import_module("spacy")
    except ImportError:
        raise InputError(
            "spaCy is not installed: install it (pip install spacy), or set tagger to 'patterns'"
        ) from None
    try:
        tag = spacy.load(model)
    except OSError:
        raise InputError(
            f"spaCy has no model {model!r}: install it (python -m spacy download {model}), or set tagger to 'patterns'"
        ) from None
    return lambda text: [Entity(span.start_char, span.end_char, span.label_) for span in tag(text).ents]
