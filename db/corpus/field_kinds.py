"""Guesses what the values of a text column are, from its name and some values; people can change each guess."""

import re
from collections.abc import Callable, Iterable, Sequence

from allpairs.db.corpus.cells import shown, with_noun
from allpairs.db.corpus.field_values import (
    CURRENCY,
    READ,
    ColumnFormat,
    day_of,
    evidence_of,
    is_missing,
    is_readable,
    number_of,
    reading_of,
)
from allpairs.db.domain import FieldKind
from allpairs.db.identity import identity

LOOKED_AT = 1_000  # values of a column
MOST = 0.8  # of the values decide
PRICES = ("price", "cost", "amount", "msrp", "rrp", "fee", "total", "salary")
CODES = (
    "id",
    "code",
    "sku",
    "upc",
    "ean",
    "gtin",
    "asin",
    "isbn",
    "issn",
    "doi",
    "model",
    "modelno",
    "mpn",
    "part",
    "serial",
    "zip",
    "zipcode",
    "postcode",
    "plz",
    "phone",
    "telephone",
    "tel",
    "fax",
    "ssn",
    "vat",
    "iban",
    "email",
)
LONGEST_NAME = 4.0  # words on average


def guess_kind(name: str, values: Sequence[str]) -> FieldKind:
    """Return the likely kind of a column with this name and these values, maybe none."""
    filled = [value for value in map(identity, values[:LOOKED_AT]) if not is_missing(value)]
    called = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    if not filled:
        return FieldKind.TEXT
    reading = reading_of(filled, FieldKind.PRICE if called & set(PRICES) else None)
    numbers = [value for value in filled if number_of(value, reading) is not None and len(value.split()) <= 2]
    are_numbers = len(numbers) >= MOST * len(filled)
    if _share(filled, lambda value: day_of(value, reading) is not None) >= MOST:
        return FieldKind.DATE
    if are_numbers and (called & set(PRICES) or _share(filled, lambda value: bool(CURRENCY.search(value))) >= MOST):
        return FieldKind.PRICE
    if called & set(CODES) or _share(filled, _is_code) >= MOST:
        return FieldKind.CODE
    if are_numbers:
        return FieldKind.NUMBER
    words = sum(len(value.split()) for value in filled) / len(filled)
    return FieldKind.NAME if words <= LONGEST_NAME else FieldKind.TEXT


def _is_code(value: str) -> bool:
    """Return whether a value is one word of digits with letters or hyphens, such as a part number."""
    return len(value.split()) == 1 and any(map(str.isdigit, value)) and number_of(value) is None


def _share(values: Sequence[str], holds: Callable[[str], bool]) -> float:
    return sum(map(holds, values)) / len(values)


def note_on_values(kind: FieldKind, values: Callable[[], Iterable[str]]) -> str:
    """Return what people should know of how a column is read; empty if every value can be read in one way only.

    values: yields those of the column, anew at each call.
    """
    if kind not in READ:
        return ""
    evidence = evidence_of(values(), kind)
    reading = evidence.reading(ColumnFormat())
    unread = 0
    first = ""
    for value in values():
        if value.strip() and not is_readable(value, kind, reading):
            unread += 1
            first = min(first or value, value)
    parts = [evidence.assumed] if evidence.assumed else []
    if unread:
        problem = f"{with_noun(unread, 'value')} cannot be read as a {kind.value}"
        parts.insert(0, f"{problem} and counted as missing, such as {shown(first)}")
    return "; ".join(parts)
