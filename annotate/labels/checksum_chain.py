"""A chain of checksums over the rows of a table: a row that was changed, removed, added or moved breaks it.

Every row carries how many rows follow, so that missing ones at the end are noticed too, and the SHA-256 of its other
cells and of the checksum of the row before; the first row follows from the names of the columns. It keeps no secret:
whoever writes all checksums anew gets an unbroken chain, but another last checksum.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from db.corpus.cells import bad
from db.corpus.files import column_names, read_rows
from db.errors import InputError

REMAINING, CHECKSUM = "remaining", "checksum"
CHAIN: dict[str, type] = {REMAINING: int, CHECKSUM: str}  # the last two columns of a chained table
EXACT = 2**53  # below it every whole number is a float of its own
BROKEN = "the chain breaks here: this row was changed or put here, or rows before it were removed or moved"
EMPTY = "no answers in it: nobody had answered when it was exported, or all its rows were removed"


@dataclass(frozen=True)
class Verified:
    """An unbroken chain: its number of rows, and its last checksum, which says which table it was."""

    rows: int
    checksum: str


def chained(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """The rows with the two cells of the chain. columns: the names of all columns, those two included."""
    checksum = _first(columns)
    for place, row in enumerate(rows):
        cells = (*map(_plain, row), len(rows) - place - 1)
        checksum = _next(checksum, ["" if cell is None else str(cell) for cell in cells])
        yield *cells, checksum


def verify(path: Path) -> Verified:
    """What the file holds, where its chain is unbroken.

    Raises InputError, which names the first row that breaks it, and for a file without checksums or without rows.
    """
    columns = column_names(path)
    if columns[-2:] != list(CHAIN):
        raise InputError(f"{path.name}: its last columns are not {' and '.join(CHAIN)}; export the history again")
    checksum, count, number, remaining = _first(columns), 0, 0, "0"
    for number, (*cells, given) in read_rows(path, columns, without=EMPTY):
        checksum = _next(checksum, cells)
        if checksum != given:
            raise bad(BROKEN, path, number)
        count, remaining = count + 1, cells[-1]
    if remaining != "0":
        raise bad(f"the chain ends here, and {remaining} more rows should follow", path, number)
    return Verified(count, checksum)


def _plain(cell: Any) -> Any:
    """The cell so that every format gives it back as the same text: whole numbers without a point."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT else cell


def _first(columns: Sequence[str]) -> str:
    return _next("", columns)


def _next(before: str, cells: Sequence[str]) -> str:
    return sha256(json.dumps([before, *cells]).encode()).hexdigest()
