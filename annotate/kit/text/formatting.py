"""Durations, sizes and texts, formatted for a page."""

import re
from datetime import datetime

from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, Words
from allpairs.db.schema.tables import now

JOINER = "\u2060"


def duration(seconds: float, _: Words = ENGLISH_WORDS) -> str:
    """Return a duration in its largest fitting unit: `8 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{max(0, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{_.number(seconds / 3600, '.1f')} h"


def megabytes(size: int) -> str:
    """Return a number of bytes in its largest fitting unit: `812 kB`, `3.4 MB`, `1.2 GB`."""
    if size < 1_000_000:
        return f"{-(-size // 1000)} kB"
    return f"{size / 1e6:,.1f} MB" if size < 1_000_000_000 else f"{size / 1e9:,.1f} GB"


def number_in_words(n: int) -> str:
    """Return a number in words from a million on: `4,950`, `4.7 billion`."""
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if n >= size:
            return f"{n / size:,.1f} {word}"
    return f"{n:,}"


def ago(time: datetime, _: Words = ENGLISH_WORDS) -> str:
    """Return how long ago the time was."""
    seconds = (now() - time).total_seconds()
    return _("just now") if seconds < 5 else _("{time} ago", time=duration(seconds, _))


def beginning(text: str, longest: int = 600) -> str:
    """Return the text, or its first `longest` characters."""
    return text if len(text) <= longest else f"{text[:longest]} …"


def sentence(words: str) -> str:
    """Return the words with a full stop and, unless they begin with a file or a name in quotes, with a capital."""
    first = words.partition(" ")[0]
    words = f"{words[0].upper()}{words[1:]}" if first.isalpha() else words
    return words if words.endswith((".", "!", "?")) else f"{words}."


def literal(text: str) -> str:
    """Return the text escaped so that Markdown shows it unchanged, on one line."""
    # Streamlit replaces :emoji:, :red[ ] and -> after it has read the escapes, so an invisible joiner separates them.
    parted = re.sub(r"(?<=:)(?=\S)|(?<=[-<>=~])(?=[-<>=~])", JOINER, " ".join(text.split()))
    return re.sub(r"([\\`*_{}\[\]()#+\-.!$<>|~&])", r"\\\1", parted)
