"""Values as somebody who knows the column prepares them for a tool that compares them letter by letter."""

import re
import unicodedata
from collections.abc import Callable, Mapping

GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
LAST_DIGITS = 9  # of a phone number, after country and trunk codes
DAYS = (r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)", r"(?P<d>\d{1,2})[./](?P<m>\d{1,2})[./](?P<y>\d{4}|\d\d)")


def plain(text: str) -> str:
    """Return the text in small letters of ASCII, punctuation as spaces."""
    letters = unicodedata.normalize("NFKD", text.lower().translate(GERMAN)).encode("ascii", "ignore").decode("ascii")
    return " ".join(re.sub(r"[^a-z0-9@&]+", " ", letters).split())


def phone(text: str) -> str:
    """Return the last digits of a phone number."""
    return re.sub(r"\D", "", text.replace("(0)", ""))[-LAST_DIGITS:]


def code(text: str) -> str:
    """Return letters and digits alone, in capitals."""
    return re.sub(r"[^A-Z0-9]", "", text.upper())


def date(text: str) -> str:
    """Return the date as YYYY-MM-DD; a year of two digits is before 2010."""
    for pattern in DAYS:
        if match := re.fullmatch(pattern, text.strip()):
            year = int(match["y"])
            year += (2000 if year < 10 else 1900) if year < 100 else 0
            return f"{year}-{int(match['m']):02d}-{int(match['d']):02d}"
    return ""


def price(text: str) -> str:
    """Return the number of a price in any of three formats, with a decimal point."""
    number = re.sub(r"[^\d.,]", "", text)
    whole, _, cents = re.fullmatch(r"(.*?)(?:([.,])(\d\d))?", number).groups("")  # type: ignore[union-attr]
    digits = re.sub(r"\D", "", whole)
    return f"{digits}.{cents or '00'}" if digits else ""


def mail(text: str) -> str:
    """Return the address in small letters."""
    return text.strip().lower()


PREPARE: Mapping[str, Callable[[str], str]] = {
    "phone": phone,
    "code": code,
    "date": date,
    "price": price,
    "e-mail": mail,
}


def prepared(record: Mapping[str, str], columns: Mapping[str, str]) -> dict[str, str | None]:
    """Return the record's compared values, None where one is missing; columns: what each holds."""
    return {name: PREPARE.get(holds, plain)(record[name]) or None for name, holds in columns.items()}
