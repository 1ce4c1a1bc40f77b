"""Guesses what the values of a text column are, from its name and first values; people can change each guess."""

import re
from collections.abc import Callable, Sequence

from allpairs.db.corpus.field_values import day_of, number_of
from allpairs.db.domain import FieldKind

LOOKED_AT = 1_000  # values of a column, the first ones
MOST = 0.8  # of the values decide
PRICES = ("price", "cost", "amount", "msrp", "rrp", "fee", "total", "salary")
CODES = (
    "id", "code", "sku", "upc", "ean", "gtin", "asin", "isbn", "issn", "doi", "model", "modelno", "mpn", "part",
    "serial", "zip", "zipcode", "postcode", "plz", "phone", "telephone", "tel", "fax", "ssn", "vat", "iban", "email",
)  # fmt: skip
CURRENCY = re.compile(r"[$€£¥₹]|\b(USD|EUR|GBP|CHF|JPY)\b")
LONGEST_NAME = 4.0  # words on average


def guess_kind(name: str, values: Sequence[str]) -> FieldKind:
    """Return the likely kind of a column with this name and these first values, maybe none."""
    filled = [value for value in map(str.strip, values[:LOOKED_AT]) if value]
    called = set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()))
    if not filled:
        return FieldKind.TEXT
    are_numbers = _share(filled, lambda value: number_of(value) is not None and len(value.split()) <= 2) >= MOST
    if _share(filled, lambda value: day_of(value) is not None) >= MOST:
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
