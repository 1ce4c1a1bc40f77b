"""The values of numbers, prices, dates and times, as people write them.

What can be read in two ways, such as 1.499 and 3/5/2024, is read in the one way of its column.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import repeat
from typing import TypeVar

from allpairs.db.domain import FieldKind
from allpairs.db.identity import identity, unaccented

# What people write where they have no value.
MISSING = frozenset(
    {
        "n/a",
        "#n/a",
        "na",
        "n.a.",
        "nan",
        "<na>",
        "none",
        "null",
        "nil",
        "nat",
        "unknown",
        "undefined",
        "missing",
        "tbd",
        "tba",
        "tbc",
        "not available",
        "not applicable",
        "not known",
        "no data",
        "k.a.",
        "k. a.",
        "keine angabe",
        "unbekannt",
        "inconnu",
        "desconocido",
        "s/d",
        "n.d.",
    }
)
SIGNS = str.maketrans({"−": "-", "٬": "'", "’": "'", "‘": "'"})  # minus, and what stands between groups of digits
NUMBER = re.compile(
    r"((?<![\w.,])[-+] ?)?(\d+(?:[' ]\d{3}(?!\d)|[.,٫]\d+)*|(?<![\w.,])[.,٫]\d+)"
    r"(e[-+]?\d{1,3}(?!\w)|(?:k| ?mn?| ?mio| ?bn)(?!\w))?",
    re.IGNORECASE,
)
NEGATIVE = re.compile(r"- ?[\d.,٫].*|\((?![12]\d{3}\)).*\)|[\d.,٫' ]*\d-")  # -$5, ($5) and $5-, but not the year (1999)
SCALES = {"k": "e3", "m": "e6", "b": "e9"}
CURRENCY = re.compile(r"[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b")
GROUPED = r"([1-9]\d?\d?(?:{0}\d\d\d)+|[1-9]\d?(?:{0}\d\d)+{0}\d\d\d|\d*)(?:[{1}٫](\d+))?"
FORMS = {".": re.compile(GROUPED.format(",", ".")), ",": re.compile(GROUPED.format(r"\.", ","))}  # by the decimal sign
DAY_MONTH = re.compile(r"(\d\d?)([-/. ]) ?(\d\d?)\2 ?(\d{4}|\d\d)")
YEAR_FIRST = re.compile(r"(\d{4})([-/. ]?)(\d\d?)\2(\d\d?)")
DAY_NAME = re.compile(
    r"(?:[^\W\d]+\.?,? )?(\d\d?)(?:st|nd|rd|th|er|\.)?[ -]?(?:de )?([^\W\d]{3,})\.?,?[ -](?:de )?(\d{4}|\d\d)"
)
NAME_YEAR = re.compile(r"([^\W\d]+)\.?,?[ -](?:de )?(\d{4})")
NAME_DAY = re.compile(r"(?:[^\W\d]+\.?, )?([^\W\d]+)\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})")
TIME = re.compile(
    r"(?<=\d)(?:T|,? )(\d\d?):(\d\d)(?::(\d\d(?:\.\d+)?))? ?(?:([ap])\.?m)?[^\d+-]*(?:([-+]\d\d):?(\d\d))?.*$",
    re.IGNORECASE,
)
EARLIEST = date(1000, 1, 1)
OTHER_DECIMAL = {".": ",", ",": "."}
PIVOT = 69  # years of two digits are from 1969 to 2068
READ = (FieldKind.NUMBER, FieldKind.PRICE, FieldKind.DATE)  # kinds whose values are not compared as words
COMPACT = 8  # digits of a date without signs
# In English, German, French, Spanish, Italian, Portuguese and Dutch, without accents.
NAMES = (
    "january januar janvier enero gennaio janeiro januari",
    "february februar fevrier febrero febbraio fevereiro",
    "march marz maerz mars marzo marco maart mrt",
    "april avril abril aprile",
    "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho",
    "july juli juillet julio luglio julho",
    "august aout agosto augustus",
    "september septembre septiembre settembre setembro",
    "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro",
    "december dezember decembre diciembre dicembre dezembro",
)
SHORTEST = 3  # letters of a month


T = TypeVar("T")


@dataclass(frozen=True)
class ColumnFormat:
    """How a column is written: the sign before decimals, and whether the day stands before the month."""

    decimal: str = "."
    day_first: bool = True


@dataclass
class Evidence:
    """How many values of a column can be read in one way only, and how many in both, as 1.499 and 3/5/2024 can.

    money: prices among the open numbers, by the decimal sign that makes them thousands.
    """

    decimals: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    open_numbers: int = 0
    money: dict[str, int] = field(default_factory=lambda: {".": 0, ",": 0})
    day_first: dict[bool, int] = field(default_factory=lambda: {True: 0, False: 0})
    open_dates: int = 0

    def reading(self, default: ColumnFormat) -> ColumnFormat:
        """Return the reading of most values; what they leave open is as in the default."""
        are_prices = sum(self.money.values()) == self.open_numbers
        thousands = _most(self.money, default.decimal) if are_prices else default.decimal
        return ColumnFormat(_most(self.decimals, thousands), _most(self.day_first, default.day_first))

    @property
    def assumed(self) -> str:
        """What was assumed where the values leave it open, in words; empty if they tell."""
        is_tied = self.day_first[True] == self.day_first[False]
        return "dates such as 3/5/2024 were read with the day first" if self.open_dates and is_tied else ""

    def add_number(self, value: str, is_price: bool) -> None:
        """Count a value that may be a number."""
        point, comma = (_number(value, decimal) for decimal in self.decimals)
        if point is None or comma is None:
            self.decimals["," if point is None else "."] += point != comma
        elif point != comma:
            self.open_numbers += 1
            self.money["," if point < comma else "."] += is_price or bool(CURRENCY.search(value))

    def add_date(self, value: str) -> None:
        """Count a value that may be a date."""
        first, second = (_day(value, day_first) for day_first in self.day_first)
        if first is None or second is None:
            self.day_first[second is None] += first != second
        else:
            self.open_dates += first != second


def _most(counts: dict[T, int], default: T) -> T:
    """Return what is counted most often; the default if two are."""
    best = max(counts, key=counts.__getitem__)
    return default if list(counts.values()).count(counts[best]) > 1 else best


def is_missing(value: str) -> bool:
    """Return whether the value says that there is none: punctuation or a currency alone, or words such as n/a."""
    return value.casefold() in MISSING or all(map(_is_mark, value))


def _is_mark(sign: str) -> bool:
    category = unicodedata.category(sign)
    return category == "Sc" or category[0] in "PZC"


def evidence_of(values: Iterable[str], kind: FieldKind | None = None) -> Evidence:
    """Return what a column's values tell of its reading, whatever their order; kind: what they are, if it is known."""
    evidence = Evidence()
    for value in map(_plain, values):
        if kind != FieldKind.DATE:
            evidence.add_number(value, kind == FieldKind.PRICE)
        if kind in (FieldKind.DATE, None):
            evidence.add_date(value)
    return evidence


def reading_of(
    values: Iterable[str], kind: FieldKind | None = None, default: ColumnFormat | None = None
) -> ColumnFormat:
    """Return the one reading of a column's values; default: of what they leave open."""
    return evidence_of(values, kind).reading(default or ColumnFormat())


def number_of(value: str, reading: ColumnFormat | None = None) -> float | None:
    """Return the only number in a value, with units or signs of currency around it; None if there is not just one.

    reading: of its column, for what can be read in two ways; by default that of the value alone.
    """
    plain = _plain(value)
    decimal = (reading or reading_of([value], FieldKind.NUMBER)).decimal
    number = _number(plain, decimal)
    return _number(plain, OTHER_DECIMAL[decimal]) if number is None else number


def day_of(value: str, reading: ColumnFormat | None = None) -> int | None:
    """Return the number of a date's day, counted from the year 1; None if the value is no date.

    reading: as in `number_of`.
    """
    plain = _plain(value)
    day_first = (reading or reading_of([value], FieldKind.DATE)).day_first
    day = _day(plain, day_first)
    return _day(plain, not day_first) if day is None else day


def moment_of(value: str, reading: ColumnFormat | None = None) -> float | None:
    """Return a date with its time as days since the year 1, in UTC where it says its zone; None if it is no date."""
    day = day_of(value, reading)
    if day is None or (time := TIME.search(_plain(value))) is None:
        return day
    hour, minute, second, half, zone, minutes = time.groups(default="")
    hours = int(hour) % 12 + 12 * (half.lower() == "p") if half else int(hour)
    if hours >= 24 or int(minute) >= 60:
        return None
    utc_offset = int(zone or 0) + int(minutes or 0) / 60 * (-1 if zone.startswith("-") else 1)
    return day + (hours - utc_offset + int(minute) / 60 + float(second or 0) / 3600) / 24


def is_readable(value: str, kind: FieldKind, reading: ColumnFormat) -> bool:
    """Return whether a value can be read as what its column holds."""
    return bool(plain_values([value], kind, reading)[0])


def plain_values(values: Sequence[str], kind: FieldKind, reading: ColumnFormat) -> list[str]:
    """Return a column's values in one form: plain numbers, ISO dates, or words; empty where one is missing."""
    if kind in (FieldKind.NUMBER, FieldKind.PRICE):
        numbers = (number_of(value, reading) for value in values)
        return ["" if number is None else repr(number).removesuffix(".0") for number in numbers]
    if kind == FieldKind.DATE:
        days = (day_of(value, reading) for value in values)
        return ["" if day is None else date.fromordinal(day).isoformat() for day in days]
    return ["" if is_missing(value) else value for value in map(identity, values)]


def _plain(value: str) -> str:
    return identity(value).translate(SIGNS)


def _number(value: str, decimal: str) -> float | None:
    numbers = NUMBER.findall(value)
    if len(numbers) != 1:
        return None
    sign, digits, exponent = numbers[0]
    parts = FORMS[decimal].fullmatch(re.sub("[' ]", "", digits))
    if parts is None:  # a version, an address of the network, or decimals in another form
        return None
    number = float(f"{re.sub('[.,]', '', parts[1]) or 0}.{parts[2] or 0}{_power(exponent.lower().strip(), value)}")
    return -number if sign.startswith("-") or NEGATIVE.fullmatch(CURRENCY.sub("", value).strip()) else number


def _power(written: str, value: str) -> str:
    """Return the power of ten as `e3`: for 2e3 and 2k, and with a currency for $2m and 2 bn €, too."""
    if written.startswith("e"):
        return written
    return SCALES.get(written[:1], "") if written == "k" or CURRENCY.search(value) else ""


def _day(value: str, day_first: bool) -> int | None:
    """Return the number of a date's day; day_first: where both may be first, the day is."""
    text = re.sub(" ?[年月년월] ?", "-", TIME.sub("", value)).rstrip("日일")
    if match := YEAR_FIRST.fullmatch(text):
        if match[2] or len(text) == COMPACT:  # fewer digits would also be read with months and days of one
            return _ordinal(int(match[1]), int(match[3]), int(match[4]))
    elif match := DAY_MONTH.fullmatch(text):
        day, month = (match[1], match[3]) if day_first else (match[3], match[1])
        return _ordinal(_year(match[4]), int(month), int(day))
    elif match := DAY_NAME.fullmatch(text):
        return _ordinal(_year(match[3]), _month(match[2]), int(match[1]))
    elif match := NAME_DAY.fullmatch(text):
        return _ordinal(int(match[3]), _month(match[1]), int(match[2]))
    elif match := NAME_YEAR.fullmatch(text):
        return _ordinal(int(match[2]), _month(match[1]), 1)
    return None


def _year(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (2000 if year < PIVOT else 1900)


@cache
def _month(name: str) -> int:
    """Return the number of the month with this name, of which three letters are enough; 0 if there is not just one."""
    letters = "".join(filter(str.isalpha, unaccented(name)))
    fitting = [
        number for number, names in enumerate(NAMES, 1) if any(map(str.startswith, names.split(), repeat(letters)))
    ]
    return fitting[0] if len(letters) >= SHORTEST and len(fitting) == 1 else 0


def _ordinal(year: int, month: int, day: int) -> int | None:
    try:
        day_of_year = date(year, month, day)
    except ValueError:
        return None
    return day_of_year.toordinal() if day_of_year >= EARLIEST else None
