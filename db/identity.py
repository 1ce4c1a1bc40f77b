"""When two texts are the same, and the form in which models read them; people see the original."""

import re
import unicodedata

FORM = "NFKC"  # of the texts that models read: its name, kept with what was made of them
# Signs that never show: they are no part of a text. Joiners and selectors are, since they change letters and emoji.
UNSEEN = re.compile(
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
    seen = UNSEEN.sub("", text)
    normal = " ".join((seen if seen.isascii() else unicodedata.normalize("NFKC", seen)).split())
    return "" if SILENT.fullmatch(normal) else normal


def same_id(name: str) -> str:
    """Return what the spellings of one id share: its Unicode NFC."""
    return unicodedata.normalize("NFC", name)
