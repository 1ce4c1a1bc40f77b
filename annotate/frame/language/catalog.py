"""The languages, and which of them a person reads."""

from dataclasses import dataclass
from functools import lru_cache

COOKIE = "allpairs_language"
LASTS = 365 * 24 * 3600  # seconds for which a browser keeps the choice


@dataclass(frozen=True)
class Language:
    """A language: its code, its name for those who read it, how it writes numbers, and whether from the right."""

    code: str
    name: str
    thousands: str = ","
    decimal: str = "."
    percent: str = "%"
    from_right: bool = False

    @property
    def direction(self) -> str:
        """Return the direction of text as HTML names it."""
        return "rtl" if self.from_right else "ltr"


ENGLISH = Language("en", "English")
OFFERED = (
    ENGLISH,
    Language("de", "Deutsch", thousands=".", decimal=",", percent="\u202f%"),
    Language("fr", "Français", thousands="\u202f", decimal=",", percent="\u202f%"),
)
LONGER = Language("en-XA", "Longer")  # for tests of the layout
MIRRORED = Language("ar-XB", "Mirrored", from_right=True)  # for tests of the layout
LANGUAGES = {language.code: language for language in (*OFFERED, LONGER, MIRRORED)}


@lru_cache
def chosen(cookie: str | None, accepted: str) -> Language:
    """Return the language that the cookie names, else the first of those that the browser accepts, else English.

    accepted: the header Accept-Language.
    """
    if cookie in LANGUAGES:
        return LANGUAGES[cookie]
    offered = {language.code: language for language in OFFERED}
    codes = (offered.get(code.split("-")[0]) for code in _by_preference(accepted))
    return next((language for language in codes if language is not None), ENGLISH)


def _by_preference(accepted: str) -> list[str]:
    """Return the codes in the header, those with the highest quality first."""
    named = [part.strip().lower().partition(";q=") for part in accepted.split(",")]
    qualities = [(_quality(quality), code) for code, _, quality in named]
    return [
        code for quality, code in sorted(qualities, key=lambda quality_and_code: -quality_and_code[0]) if quality > 0
    ]


def _quality(value: str) -> float:
    try:
        return float(value or 1)
    except ValueError:
        return 0.0
