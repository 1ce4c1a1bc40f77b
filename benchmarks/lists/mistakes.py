"""How people and programs write the same thing differently."""

import unicodedata
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
KEYBOARD = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
NEXT_KEYS = {
    key: row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    for row in KEYBOARD
    for place, key in enumerate(row)
}
GERMAN_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def often(values: Sequence[T], rng: Random) -> T:
    """Return one of the values; the first ones come most often, as names do."""
    return values[min(int(len(values) * rng.random() ** 1.7), len(values) - 1)]


def chance(share: float, rng: Random) -> bool:
    """Return True that often."""
    return rng.random() < share


def typo(text: str, rng: Random) -> str:
    """Return the text with one letter left out, doubled, exchanged with the next one or with a key beside it."""
    places = [place for place, letter in enumerate(text) if letter.isalpha()]
    if len(places) < 3:
        return text
    place = rng.choice(places[1:])
    before = text[:place]
    after = text[place + 1 :]
    letter = text[place]
    kind = rng.randrange(4)
    if kind == 0:
        return before + after
    if kind == 1:
        return before + letter + letter + after
    if kind == 2 and after[:1].isalpha():
        return before + after[0] + letter + after[1:]
    return before + rng.choice(NEXT_KEYS.get(letter.lower(), "e")) + after


def spoiled(
    values: Mapping[str, str], typos: Mapping[str, float], gaps: Mapping[str, float], rng: Random
) -> dict[str, str]:
    """Return the values of a record, some with a typo and some missing, by the share of each column."""
    texts = {name: typo(text, rng) if chance(typos.get(name, 0.0), rng) else text for name, text in values.items()}
    return {name: "" if chance(gaps.get(name, 0.0), rng) else text for name, text in texts.items()}


def without_accents(text: str) -> str:
    """Return the text in the letters of ASCII, accents left out."""
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def digits(count: int, rng: Random) -> str:
    """Return that many digits; the first is not 0."""
    return str(rng.randrange(10 ** (count - 1), 10**count))


def changed_digit(text: str, rng: Random) -> str:
    """Return the text with a digit more or less in one place, which exists."""
    place = rng.choice([place for place, letter in enumerate(text) if letter.isdigit() and place])
    return text[:place] + rng.choice([digit for digit in "0123456789" if digit != text[place]]) + text[place + 1 :]


def day(first: int, last: int, rng: Random) -> str:
    """Return a date of these years as YYYY-MM-DD."""
    return f"{rng.randint(first, last)}-{rng.randint(1, 12):02d}-{rng.randint(1, 28):02d}"


def mail_name(text: str) -> str:
    """Return the text as the part of an e-mail address."""
    return without_accents(text.translate(GERMAN_LETTERS)).lower().replace(" ", "").replace("'", "")
