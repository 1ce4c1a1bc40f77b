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
from allpairs.db.identity import identity, unaccented

Test = Callable[[str], bool]  # of a value

LOOKED_AT = 1_000  # values of a column
MOST = 0.8  # of the values decide
HALF = 0.5  # of the values are enough where the name says what they are
# What names of columns say in English, German and French, without accents, the first that fits.
CALLED = {
    FieldKind.EMAIL: r"mail(?!ing|box)|courriel",
    FieldKind.PHONE: (
        r"phone|tele(f|phon|copie)|\b(tel|fax|mobil\w*|cell|gsm|natel|portable|handy\w*)\b|rufnummer|durchwahl"
    ),
    FieldKind.DATE: r"\b(date|dates|dob|birth|naissance)\b|datum\b|geburtstag\b",
    FieldKind.PRICE: (
        r"\b(price|cost|amount|msrp|rrp|fee|total|salary|uvp|netto|brutto|prix|cout|montant|tarif|salaire|umsatz)\b"
        r"|(preis|kosten|betrag|gebuhr|gehalt)\b"
    ),
    FieldKind.ADDRESS: r"strasse|\b(street|str|rue|voie|addr)\b|address|adresse|anschrift",
    FieldKind.CODE: (
        r"\b(id|code|sku|upc|ean|gtin|asin|isbn|issn|isin|doi|model|modelno|mpn|part|serial|zip|zipcode|postcode|ssn|vat"
        r"|iban|bic|plz|postleitzahl|npa|cp|siret|siren|tva|ustid|reference|referenz|matricule|hausnr)\b"
        r"|\w(nummer|nr)\b| (nr|no|number|nummer)$|^(numero|no|nr) "
    ),
    FieldKind.ORGANISATION: (
        r"\b(firm|firmen\w*|firma|company|companies|societe|entreprise|unternehmen\w*|org|employer|employeur)\b"
        r"|organi[sz]ation|raison sociale|arbeitgeber"
    ),
}
LEGAL_FORM = re.compile(
    "gmbh|mbh|ag|kg|kgaa|ohg|gbr|ug|ev|eg|ek|se|inc|incorporated|corp|corporation|co|company|ltd|limited|llc|llp|lp|plc"
    "|sa|sas|sasu|sarl|eurl|snc|sci|scop|ets|cie|spa|srl|bv|nv|oy|ab|aps|sl"
)
EMAIL = re.compile(r"\S+@\S+\.\S+")
PHONE = re.compile(
    r"(\+\d[\d /().-]{6,}|(?=.*\d[ /().-])\(?0[\d /().-]{6,}|\(?\d{3}[). -]{1,2}\d{3}[. -]\d{4})( ?(x|ext\.?) ?\d+)?"
)
ROADS = r"rue|r|avenue|av|ave|boulevard|bd|blvd|place|chemin|impasse|quai|allee|route|road|rd|lane|drive|dr|street|st"
ADDRESS = re.compile(
    rf"\d+\w{{0,3}},? .*\b({ROADS})\b.*|.*(str(\.|asse)|weg|platz|allee|gasse|ring|damm|ufer|markt) ?\d+.*"
)
FEWEST_DIGITS = 5  # of a phone number
LONGEST_NAME = 4.0  # words on average


def guess_kind(name: str, values: Sequence[str]) -> FieldKind:
    """Return the likely kind of a column with this name and these values, maybe none.

    The name decides if it says anything that half of the values do not contradict, else the values do.
    """
    filled = [value for value in map(identity, values[:LOOKED_AT]) if not is_missing(value)]
    if not filled:
        return FieldKind.TEXT
    called = _kind_called(name)
    reading = reading_of(filled, FieldKind.PRICE if called == FieldKind.PRICE else None)

    def is_day(value: str) -> bool:
        return day_of(value, reading) is not None

    def is_number(value: str) -> bool:
        return number_of(value, reading) is not None and len(value.split()) <= 2

    may_be: dict[FieldKind, Test] = {
        FieldKind.EMAIL: _is_email,
        FieldKind.PHONE: _may_be_phone,
        FieldKind.DATE: is_day,
        FieldKind.PRICE: is_number,
        FieldKind.ADDRESS: _has_words,
        FieldKind.CODE: bool,
        FieldKind.ORGANISATION: _has_words,
    }
    if _share(filled, _is_email) >= MOST:
        return FieldKind.EMAIL
    if called and _share(filled, may_be[called]) >= (MOST if called == FieldKind.PRICE else HALF):
        return called
    return _kind_of_values(filled, is_day, is_number)


def _kind_called(name: str) -> FieldKind | None:
    """Return what the name of a column says of its values, if anything."""
    words = " ".join(re.findall(r"[^\W_]+", unaccented(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name))))
    return next((kind for kind, pattern in CALLED.items() if re.search(pattern, words)), None)


def _kind_of_values(filled: Sequence[str], is_day: Test, is_number: Test) -> FieldKind:
    if _share(filled, is_day) >= MOST:
        return FieldKind.DATE
    if _share(filled, lambda value: bool(PHONE.fullmatch(value))) >= MOST:
        return FieldKind.PHONE
    if _share(filled, lambda value: bool(ADDRESS.fullmatch(unaccented(value)))) >= HALF:
        return FieldKind.ADDRESS
    are_numbers = _share(filled, is_number) >= MOST
    if are_numbers and _share(filled, lambda value: bool(CURRENCY.search(value))) >= MOST:
        return FieldKind.PRICE
    if _share(filled, _is_code) >= MOST:
        return FieldKind.CODE
    if are_numbers:
        return FieldKind.NUMBER
    if _share(filled, _ends_with_legal_form) >= HALF:
        return FieldKind.ORGANISATION
    words = sum(len(value.split()) for value in filled) / len(filled)
    return FieldKind.NAME if words <= LONGEST_NAME else FieldKind.TEXT


def _is_email(value: str) -> bool:
    return bool(EMAIL.fullmatch(value))


def _may_be_phone(value: str) -> bool:
    digits = sum(map(str.isdigit, value))
    return digits >= FEWEST_DIGITS and digits > sum(map(str.isalpha, value))


def _has_words(value: str) -> bool:
    return any(map(str.isalpha, value)) and "://" not in value and not value.startswith("www.")


def _ends_with_legal_form(value: str) -> bool:
    words = unaccented(value).replace(".", "").split()  # none of a value of accents alone
    return bool(words and LEGAL_FORM.fullmatch(words[-1]))


def _is_code(value: str) -> bool:
    """Return whether a value is one word of digits with letters or hyphens, such as a part number."""
    return len(value.split()) == 1 and any(map(str.isdigit, value)) and number_of(value) is None


def _share(values: Sequence[str], holds: Test) -> float:
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
