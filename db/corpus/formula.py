"""Escape CSV cells that a spreadsheet would run as a formula, so that reading restores them.

An apostrophe is put before a text that begins with = + - @ or a tab or carriage return, as OWASP's page on CSV
injection advises, and one more before a text that already has such apostrophes, so that every text is restored.
"""

import re
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_ESCAPED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def guarded(cell: Any) -> Any:
    """Return the cell for a CSV file: a text that could be a formula gets an apostrophe, a number stays as it is."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """Return the original text of a CSV file's cell."""
    return cell[1:] if cell[:1] == "'" and _ESCAPED.match(cell) else cell
