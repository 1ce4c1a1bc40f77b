"""Cells of CSV files that a spreadsheet would run as a formula, made harmless in a way that reading takes back.

An apostrophe goes before a text that begins with = + - @ or a tab or carriage return, as OWASP's page on CSV injection
advises; one more before a text that has such apostrophes of its own, so that every text comes back as it was.
"""

import re
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def guarded(cell: Any) -> Any:
    """The cell as a CSV file holds it: a text that might be a formula after an apostrophe, a number as it is."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """The text that a CSV file's cell stands for."""
    return cell[1:] if cell[:1] == "'" and _ESCAPED.match(cell) else cell
