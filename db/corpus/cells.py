"""What all table formats share: rows, limits, cell values as text, and the form of error messages."""

from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from allpairs.db.errors import InputError

MAX_CELL = 100_000  # characters in one cell
MAX_COLUMNS = 10_000
MAX_LINE = 10_000_000  # bytes in one line; reading stops there, so that one endless line cannot fill the memory


class Row(NamedTuple):
    """The values of the wanted columns; `number` is the line in the file (in Parquet the row), from 1."""

    number: int
    values: tuple[str, ...]


def shown(value: object) -> str:
    """Return the value as a short printable part of a message."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:60] + "…")


def counted(n: int, what: str) -> str:
    """Return the number with its noun: `1 pair`, `2,000 pairs`."""
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def place(path: Path, row: int | None = None, column: str | None = None) -> str:
    """Return a place in words: `left.csv, row 3, column 'text'`."""
    parts = [path.name]
    if row is not None:
        parts.append(f"row {row}")
    if column is not None:
        parts.append(f"column {shown(column)}")
    return ", ".join(parts)


def bad(what: str, path: Path, row: int | None = None, column: str | None = None) -> InputError:
    """Return the error that says where and what."""
    return InputError(f"{place(path, row, column)}: {what}")


def too_long(length: int, path: Path, row: int, column: str | None, at_least: bool = False) -> InputError:
    """Return the error for a cell above the limit."""
    known = f"{'at least ' if at_least else ''}{length:,}"
    what = f"a cell has {known} characters, but the limit is {MAX_CELL:,}; shorten or split the text"
    return bad(what, path, row, column)


def as_text(value: object, path: Path, row: int | None, column: str) -> str:
    """Return the value of a typed cell as text: empty for null, whole numbers without a point.

    Raises InputError for lists, objects and bytes that are not UTF-8.
    """
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float() if value != value:  # many tools write null as NaN
            return ""
        case float() if value.is_integer():
            return str(int(value))
        case int() | float() | Decimal() | date() | time():
            return str(value)
        case bytes():
            return _decoded(value, path, row, column)
    raise bad(f"the value is a {type(value).__name__}, not text or a number", path, row, column)


def _decoded(value: bytes, path: Path, row: int | None, column: str) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise bad(f"byte {error.start + 1} of the value is not UTF-8", path, row, column) from None


def check(row: Row, columns: Sequence[str], path: Path) -> Row:
    """Return the row itself.

    Raises InputError for cells that are too long, or have NUL characters or lone surrogates.
    """
    for value, column in zip(row.values, columns, strict=True):
        if len(value) > MAX_CELL:
            raise too_long(len(value), path, row.number, column)
        if "\0" in value:
            raise bad("the cell has a NUL character; remove it (save UTF-16 files as UTF-8)", path, row.number, column)
        if not value.isascii():
            _check_encodable(value, path, row.number, column)
    return row


def _check_encodable(value: str, path: Path, row: int, column: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        what = f"character {error.start + 1} is only half a character (a lone surrogate); save the text as UTF-8"
        raise bad(what, path, row, column) from None
