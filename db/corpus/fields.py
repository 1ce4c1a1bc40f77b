"""The text columns of a record: joined to one text for the models, and taken apart again for people."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

CHINESE = r"\u3400-\u9fff\uf900-\ufaff"  # characters, also of Japanese, which are a word each
PIECE = re.compile(rf"[{CHINESE}]|[^\W{CHINESE}]+|[^\w\s]")
BETWEEN_TEXTS = " . "  # joins text columns, as Mussmann, Jia and Liang (2020) join title and sentence of WikiQA


class Aligned(NamedTuple):
    """A column of the left list beside one of the right list: their places, None where a list has no such column."""

    name: str
    left: int | None
    right: int | None


def joined(values: Sequence[str]) -> tuple[str, tuple[int, ...]]:
    """Return one text of the values, without white space around them and without empty ones; and their lengths.

    The lengths are empty if there is only one column: then the text is the value.
    """
    stripped = [value.strip() for value in values]
    lengths = tuple(map(len, stripped)) if len(stripped) > 1 else ()
    return BETWEEN_TEXTS.join(filter(None, stripped)), lengths


def joined_values(text: str, lengths: Sequence[int] | None) -> list[str]:
    """Return the value of each column of a joined text; the whole text if there are no lengths."""
    return list(_parts(text, lengths)) if lengths else [text]


def _parts(text: str, lengths: Sequence[int]) -> Iterator[str]:
    start = 0
    for length in lengths:
        yield text[start : start + length]
        start += length + len(BETWEEN_TEXTS) if length else 0


def count_long(texts: Iterable[str], limit: int) -> int:
    """Return how many texts have surely more tokens than a model reads: more words, signs and Chinese characters."""
    return sum(len(text) > limit and sum(1 for _ in PIECE.finditer(text)) > limit for text in texts)


def note_on_long_texts(number: int, limit: int) -> str:
    """Return what to say of so many texts that are longer than these tokens; empty if there are none."""
    if not number:
        return ""
    texts, pronoun = (f"{number:,} texts are", "them") if number > 1 else ("1 text is", "it")
    return f"{texts} longer than the {limit:,} tokens that the model reads of {pronoun}: it ignores what follows."


def aligned(left: Sequence[str], right: Sequence[str]) -> list[Aligned]:
    """Return the columns of two lists side by side, in the order of the left list; empty if none belong together.

    Columns of the same name, ignoring case, spaces and underscores, belong together, and so do the first columns of
    both lists, which name the records, if no other column has the name of one of them. The others come last, with
    nothing beside them. Without any common name all columns belong together in their order, if they are equally many.
    """
    places = defaultdict[str, list[int]](list)
    for place, name in enumerate(right):
        places[_key(name)].append(place)
    partners = {place: places[_key(name)].pop(0) for place, name in enumerate(left) if places[_key(name)]}
    if not partners:
        if len(left) != len(right):
            return []
        partners = {place: place for place in range(len(left))}
    elif 0 not in partners and 0 not in partners.values():
        partners[0] = 0
    used_places = set(partners.values())
    return [
        *(
            Aligned(_name(left[left_place], right[right_place]), left_place, right_place)
            for left_place, right_place in sorted(partners.items())
        ),
        *(Aligned(name, place, None) for place, name in enumerate(left) if place not in partners),
        *(Aligned(name, None, place) for place, name in enumerate(right) if place not in used_places),
    ]


def _key(name: str) -> str:
    return name.casefold().replace(" ", "").replace("_", "")


def _name(left: str, right: str) -> str:
    return left if _key(left) == _key(right) else f"{left} / {right}"
