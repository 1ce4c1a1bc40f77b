"""When two texts are the same, and the form in which models read them; people see the original."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

V = TypeVar("V")
# Signs that never show: they are no part of a text. Joiners and selectors are, since they change letters and emoji.
INVISIBLE = re.compile(
    "[\x01-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
# Joiners, selectors, tags and fillers, which show nothing by themselves.
SILENT = re.compile(
    "[\\s\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u200c\u200d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]*"
)


def identity(text: str) -> str:
    """Return the normal form of a text, which identical texts share and models read; empty if nothing shows.

    It is the text without invisible signs, in Unicode NFKC, with white space collapsed.
    """
    visible = INVISIBLE.sub("", text)
    normal = " ".join((visible if visible.isascii() else unicodedata.normalize("NFKC", visible)).split())
    return "" if SILENT.fullmatch(normal) else normal


def unaccented(text: str) -> str:
    """Return a text in lower case, with the letters of the alphabet alone where they have accents; ß is ss."""
    return "".join(sign for sign in unicodedata.normalize("NFD", text.casefold()) if not unicodedata.combining(sign))


def without_unseen(text: str) -> str:
    """Return a text from outside as databases, logs and pages can take it: without signs that never show.

    Among them are NUL, escape sequences' first sign and marks that turn the direction of what follows. Half a character
    becomes a question mark.
    """
    return INVISIBLE.sub("", text.replace("\0", "")).encode("utf-8", "replace").decode()


def same_id(name: str) -> str:
    """Return what the spellings of one id share: its Unicode NFC."""
    return unicodedata.normalize("NFC", name)


def spellings(names: Iterable[str]) -> list[str]:
    """Return the names as they are, composed and decomposed: what a database may hold of the same ids."""
    return list({form for name in names for form in (name, same_id(name), unicodedata.normalize("NFD", name))})


class ById(Mapping[str, V]):
    """What belongs to each id, whichever way it is spelt in Unicode; it yields the ids as they came in."""

    def __init__(self, pairs: Iterable[tuple[str, V]]) -> None:
        self._pairs = {same_id(name): (name, value) for name, value in pairs}

    def __getitem__(self, name: str) -> V:
        return self._pairs[same_id(name)][1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._pairs.values())

    def __len__(self) -> int:
        return len(self._pairs)

    def spelt(self, name: str) -> str:
        """Return the id as it came in; the name itself if there is none."""
        return self._pairs.get(same_id(name), (name, None))[0]
