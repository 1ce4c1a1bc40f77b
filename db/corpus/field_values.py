"""The values of numbers, prices and dates, as people write them."""

import re
from datetime import date, datetime

NUMBER = re.compile(r"[-+]?\d+(?:[' \u00a0\u202f]\d{3}(?!\d)|[.,]\d+)*")
# Digits before the decimals, in groups of three or not, and the decimals. A comma before three digits makes groups.
ENGLISH = re.compile(r"([-+]?\d{1,3}(?:,\d{3})+|[-+]?\d+)(?:\.(\d+))?")
CONTINENTAL = re.compile(r"([-+]?\d{1,3}(?:\.\d{3})+|[-+]?\d+)(?:,(\d+))?")
DATES = (
    "%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d %B %Y",
    "%d %b %Y", "%B %d, %Y", "%b %d, %Y",
)  # fmt: skip
TIME = re.compile(r"(?<=\d)[T ]\d{1,2}:\d\d.*$")
EARLIEST = date(1000, 1, 1)
COMPACT = 8  # digits of a date without separators


def number_of(value: str) -> float | None:
    """Return the only number in a value, with units or signs of currency around it; None if there is not just one."""
    found: list[str] = NUMBER.findall(value)
    if len(found) != 1:
        return None
    digits = re.sub(r"[' \u00a0\u202f]", "", found[0])
    parts = ENGLISH.fullmatch(digits) or CONTINENTAL.fullmatch(digits)
    if parts is None:  # a version, or an address of the network
        return None
    return float(re.sub("[.,]", "", parts[1]) + "." + (parts[2] or "0"))


def day_of(value: str) -> int | None:
    """Return the number of a date's day, counted from the year 1; None if the value is no date.

    Of 3/5/2024, which may be of May or of March, it takes the former, as most of the world writes it.
    """
    text = TIME.sub("", value.strip())
    if text.isdigit() and len(text) != COMPACT:  # which would also be read with months and days of one digit
        return None
    for form in DATES:
        try:
            found = datetime.strptime(text, form).date()
        except ValueError:
            continue
        return found.toordinal() if found >= EARLIEST else None
    return None
