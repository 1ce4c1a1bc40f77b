"""A chain of checksums over the rows of a table: changing, removing, adding or moving a row breaks it.

Each row has the number of rows that follow, so that missing rows at the end are noticed too, and the SHA-256 of its
other cells and the previous row's checksum; the first row continues from the column names. There is no secret key:
whoever recomputes all checksums gets an unbroken chain, but with another last checksum.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from allpairs.db.corpus.cells import bad
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.errors import InputError

REMAINING = "remaining"
CHECKSUM = "checksum"
CHAIN: dict[str, type] = {REMAINING: int, CHECKSUM: str}  # the last two columns of a chained table
EXACT = 2**53  # below it, floats represent every integer exactly
BROKEN = "the chain breaks here: this row was changed or inserted, or rows before it were removed or moved"
EMPTY = "the file has no rows: there were no answers when it was exported, or all rows were removed"


@dataclass(frozen=True)
class Verified:
    """An unbroken chain: its number of rows, and its last checksum, which identifies the table."""

    rows: int
    checksum: str


def chained(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows with the two cells of the chain. columns: the names of all columns, those two included."""
    checksum = _first(columns)
    for place, row in enumerate(rows):
        cells = (*map(_plain, row), len(rows) - place - 1)
        checksum = _next(checksum, ["" if cell is None else str(cell) for cell in cells])
        yield *cells, checksum


def verify(path: Path) -> Verified:
    """Check the file's chain, and return its length and last checksum.

    Raises InputError, which names the first row that breaks the chain, and for a file without checksums or rows.
    """
    columns = column_names(path)
    if columns[-2:] != list(CHAIN):
        raise InputError(f"{path.name}: the last columns must be {' and '.join(CHAIN)}; export the history again")
    checksum = _first(columns)
    count = 0
    number = 0
    remaining = "0"
    for number, (*cells, stored_checksum) in read_rows(path, columns, without=EMPTY):
        checksum = _next(checksum, cells)
        if checksum != stored_checksum:
            raise bad(BROKEN, path, number)
        count = count + 1
        remaining = cells[-1]
    if remaining != "0":
        raise bad(f"the chain ends here, but {remaining} more rows should follow", path, number)
    return Verified(count, checksum)


def _plain(cell: Any) -> Any:
    """Return the cell such that every format reads it back as the same text: whole numbers without a point."""
    return int(cell) if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT else cell


def _first(columns: Sequence[str]) -> str:
    return _next("", columns)


def _next(before: str, cells: Sequence[str]) -> str:
    return sha256(json.dumps([before, *cells]).encode()).hexdigest()
