"""The one writer of CSV: its files read back equal here, in pandas and in the csv module, whatever the texts hold.

The csv module itself leaves a carriage return unquoted before Python 3.11.9, and pandas writes by that module.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.formula import guarded
from allpairs.db.errors import InputError

_QUOTED = re.compile('[,;\t"\r\n]')


def csv_line(cells: Iterable[Any], separator: str = ",", end: str = "\n", as_written: bool = False) -> str:
    """Return the cells as a line; a missing value is empty; no cell can be a formula, but if all are `as_written`."""
    line = separator.join(_cell(cell if as_written else guarded(cell), separator) for cell in cells)
    return (line or '""') + end  # a blank line would be no row


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a header and rows."""
    return "".join(map(csv_line, (columns, *rows)))


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], for_people: bool = False) -> int:
    """Write a header and rows, one at a time, and return the number of rows. for_people: mark the file as UTF-8.

    Raises InputError with the row for half a character.
    """
    number = 0
    with path.open("wb") as stream:
        stream.write(BOM_UTF8 * for_people + csv_line(columns).encode())
        for number, cells in enumerate(rows, 1):
            stream.write(encoded_line(csv_line(cells), number))
    return number


def encoded_line(line: str, row: int) -> bytes:
    """Return the line in UTF-8. Raises InputError with the row for half a character."""
    try:
        return line.encode()
    except UnicodeEncodeError as error:
        text = shown(line[max(0, error.start - 20) : error.end])
        problem = f"the table cannot be written: in row {row}, {text} ends in half a character (a lone surrogate)"
        raise InputError(f"{problem}; correct the text") from None


def _cell(value: Any, separator: str) -> str:
    if value is None or (isinstance(value, float) and value != value):
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if separator in text or _QUOTED.search(text) else text
