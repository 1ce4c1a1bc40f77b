"""The labelled pairs that a prompt shows: the most similar to the pair that is asked about, as many of each kind."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from allpairs.db.domain import Settings, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.raters.pairs import Labelled
from allpairs.db.raters.prompt import Example, Prompt

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Known:
    """A labelled pair with its words."""

    pair: Labelled
    words: frozenset[str]


def with_words(pool: Sequence[Labelled]) -> list[Known]:
    """Return the pairs with the words of both texts."""
    return [Known(one, words_of(one.left, one.right)) for one in pool]


def words_of(left: str, right: str) -> frozenset[str]:
    """Return the words of both texts, in lower case."""
    return frozenset(_WORD.findall(f"{left} {right}".casefold()))


def prompt_for(known: Sequence[Known], settings: Settings, asked: Pair, left: str, right: str, n: int) -> Prompt:
    """Return the project's prompt for a pair, with up to n examples of its own."""
    examples = (
        Example(one.left, one.right, Verdict.YES if one.match else Verdict.NO)
        for one in closest_examples(known, asked, left, right, n)
    )
    return Prompt(settings.question, settings.guidelines, tuple(examples))


def closest_examples(known: Sequence[Known], asked: Pair, left: str, right: str, n: int) -> list[Labelled]:
    """Return up to n pairs, matches and others in turns: those of each kind that share most words with the asked one.

    Similarity is that of Jaccard (1912) of the words of both texts; newer labels win ties. Never the asked pair, nor
    one with one of its texts, even under another id. A kind with too few pairs limits the other one: they are balanced.
    """
    words = words_of(left, right)
    texts = {left, right}
    most = n // 2
    fit = [one for one in known if not _shares(one.pair, asked, texts)]
    ranked = sorted(fit, key=lambda one: -_jaccard(one.words, words))
    kinds = [[one.pair for one in ranked if one.pair.match is kind][:most] for kind in (True, False)]
    even = min(map(len, kinds))
    return list(chain.from_iterable(zip(*(kind[:even] for kind in kinds), strict=True)))


def _shares(one: Labelled, asked: Pair, texts: set[str]) -> bool:
    return one.left_id in asked or one.right_id in asked or one.left in texts or one.right in texts


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0
