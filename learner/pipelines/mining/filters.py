"""Filters that drop proposed pairs before the cross-encoder, with reasons (Joshi et al. 2022, sections 4 and 5)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Literal

from allpairs.db.corpus.cells import bad, shown
from allpairs.db.identity import identity
from allpairs.learner.light.catalog.mining import Filters
from allpairs.learner.models.likely_sentence import sentences

Texts = tuple[str, str]


class DropReason(StrEnum):
    """Why a pair was dropped. Pairs are checked in this order, and the first reason counts."""

    SEED = "a seed pair"
    VERBATIM = "one text within the other"
    SENTENCES = "too few sentences"
    SHORT = "too short"
    ANSWER = "the answer within the question"


@dataclass(frozen=True)
class KnownSeeds:
    """The seed pairs. symmetric: pairs within one list, where the order of two texts does not matter."""

    pairs: Sequence[Texts]
    symmetric: bool = False

    def __contains__(self, pair: Texts) -> bool:
        return self._key(pair) in self._keys

    @cached_property
    def _keys(self) -> frozenset[Texts]:
        return frozenset(map(self._key, self.pairs))

    def _key(self, pair: Texts) -> Texts:
        x, y = map(identity, pair)
        return (min(x, y), max(x, y)) if self.symmetric else (x, y)


def drop_reasons(pairs: Iterable[Texts], config: Filters, seeds: KnownSeeds) -> list[DropReason | None]:
    """Return why each pair is dropped, or None for pairs to keep."""
    return [_reason(pair, config, seeds) for pair in pairs]


def _reason(pair: Texts, config: Filters, seeds: KnownSeeds) -> DropReason | None:
    """Return the first reason to drop a pair."""
    if config.drop_seeds and pair in seeds:
        return DropReason.SEED
    if config.drop_verbatim and (within(*pair) or within(*reversed(pair))):
        return DropReason.VERBATIM
    if config.least_sentences and len(sentences(pair[0])) < config.least_sentences:
        return DropReason.SENTENCES
    if config.shortest and min(len(text.split()) for text in pair) < config.shortest:
        return DropReason.SHORT
    return None


def reasons_of_answers(pairs: Iterable[Texts]) -> list[DropReason | None]:
    """Return why each question with its answer is dropped, or None: the answer is in the question verbatim."""
    return [DropReason.ANSWER if within(answer, question) else None for question, answer in pairs]


def within(part: str, whole: str) -> bool:
    """Return whether a text occurs in another, ignoring case and white space."""
    return _folded(part) in _folded(whole)


def _folded(text: str) -> str:
    return " ".join(text.lower().split())


def read_date(value: str, path: Path, row: int, column: str = "date") -> date:
    """Return the day in a cell: an ISO date, or the beginning of a longer ISO time stamp.

    Raises InputError, which names the place, for anything else.
    """
    try:
        return datetime.fromisoformat(value.strip()).date()
    except ValueError:
        problem = "the date is empty" if not value.strip() else f"{shown(value)} is not a date"
        raise bad(f"{problem}; write it as YYYY-MM-DD", path, row, column) from None


def period(value: str, unit: Literal["day", "month", "year"], path: Path) -> str:
    """Return the day, the month or the year of a date in a file, as the beginning of an ISO date."""
    return read_date(value, path, 0).isoformat()[: {"year": 4, "month": 7, "day": 10}[unit]]
