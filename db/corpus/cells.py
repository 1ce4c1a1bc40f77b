"""What all table formats share: rows, limits, cell values as text, labels and ids, and the form of error messages."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from allpairs.db.domain import AnswerKind
from allpairs.db.errors import InputError

MAX_CELL = 100_000  # characters in one cell
MAX_COLUMNS = 10_000
MAX_LINE = 10_000_000  # bytes in one line; reading stops there, so that one endless line cannot fill the memory
LABELS = {"1": True, "true": True, "positive": True, "0": False, "false": False, "negative": False}
_NUMBER = re.compile(r"([01])[.,]0*")  # 1.0, as pandas writes a 1 in a column with empty cells; 1,0 in other countries
_WHOLE = re.compile(r"(-?[0-9]+)(\.0+)?")


class TableRow(NamedTuple):
    """The values of the wanted columns; `number` is the line in the file (in Parquet the row), from 1."""

    number: int
    values: tuple[str, ...]


def shown(value: object) -> str:
    """Return the value as a short printable part of a message."""
    text = str(value)
    return repr(text if len(text) <= 60 else text[:60] + "…")


def with_noun(n: int, noun: str) -> str:
    """Return the number with its noun: `1 pair`, `2,000 pairs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def place(path: Path, row: int | None = None, column: str | None = None) -> str:
    """Return a place in words: `left.csv, row 3, column 'text'`."""
    parts = [path.name]
    if row is not None:
        parts.append(f"row {row}")
    if column is not None:
        parts.append(f"column {shown(column)}")
    return ", ".join(parts)


def bad(problem: str, path: Path, row: int | None = None, column: str | None = None) -> InputError:
    """Return the error that says where and what."""
    return InputError(f"{place(path, row, column)}: {problem}")


def too_long(length: int, path: Path, row: int, column: str | None, at_least: bool = False) -> InputError:
    """Return the error for a cell above the limit."""
    known = f"{'at least ' if at_least else ''}{length:,}"
    problem = f"a cell has {known} characters, but the limit is {MAX_CELL:,}; shorten or split the text"
    return bad(problem, path, row, column)


def present_columns(optional: Iterable[str], names: Iterable[object], table: str) -> list[str]:
    """Return those of the optional columns that a table has.

    Raises InputError for one that differs in case or spaces alone, since its values would be left out.
    """
    present_names = [str(name) for name in names]
    spelt = {name.strip().lower(): name for name in present_names}
    present = [name for name in optional if name.lower() in spelt]
    if alike := [name for name in present if name not in present_names]:
        raise InputError(f"{table} has a column {shown(spelt[alike[0].lower()])}: rename it to {shown(alike[0])}")
    return present


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


def checked_row(row: TableRow, columns: Sequence[str], path: Path) -> TableRow:
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
        problem = f"character {error.start + 1} is only half a character (a lone surrogate); save the text as UTF-8"
        raise bad(problem, path, row, column) from None


def label_of(value: str, path: Path, row: int, column: str = "label") -> bool | None:
    """Return what the label says; None for one that is empty or unsure. Raises InputError for anything else."""
    word = plain_label(value)
    if word in ("", AnswerKind.UNSURE):
        return None
    if word not in LABELS:
        raise bad(f"the {column} is {shown(value)}; write 1, 0, or nothing if it is not known", path, row, column)
    return LABELS[word]


def plain_label(value: str) -> str:
    """Return the label without white space, in small letters, and `1` for `1.0` or `1,0`."""
    word = value.strip().lower()
    number = _NUMBER.fullmatch(word)
    return number[1] if number else word


def plain_id(name: str) -> str:
    """Return the id without white space, and `7` for `7.0`; only where all ids are whole numbers."""
    number = _WHOLE.fullmatch(name.strip())
    return number[1] if number else name.strip()


def are_whole(names: Iterable[str]) -> bool:
    """Return whether all ids are whole numbers, perhaps as `7.0`."""
    return all(map(_WHOLE.fullmatch, names))


def number_spellings(name: str) -> tuple[str, ...]:
    """Return how else a whole number may be spelt as an id: nothing for another id."""
    number = plain_id(name)
    return (number, f"{number}.0") if _WHOLE.fullmatch(name) else ()


class Ids:
    """The positions of a list's ids, as other files spell them: 7 and 7.0 are one id if all are whole numbers.

    whose: whose ids they are, in words.
    """

    def __init__(self, positions: Mapping[str, int], list_name: str = "its list") -> None:
        self.positions = positions
        self.whose = list_name

    @cached_property
    def _whole(self) -> bool:
        return are_whole(self.positions)

    def get(self, name: str) -> int | None:
        """Return the position of the id, or None."""
        name = name.strip()
        position = self.positions.get(name)
        if position is not None or not number_spellings(name) or not self._whole:
            return position
        return next(
            (self.positions[spelling] for spelling in number_spellings(name) if spelling in self.positions), None
        )

    def position(self, name: str, path: Path, row: int, column: str, hint: str = "") -> int:
        """Return the position of the id. Raises InputError with row and column; hint: what to do about it."""
        position = self.get(name)
        if position is None:
            known = with_noun(len(self.positions), "id")
            problem = f"the id {shown(name.strip())} is not among the {known} of {self.whose}"
            raise bad(f"{problem}; {hint or 'correct it or remove the row'}", path, row, column)
        return position
