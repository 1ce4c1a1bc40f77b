"""The rows of a group as a table: which stays on top, and how each cell of the others compares with its cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from allpairs.annotate.kit.text.diff import Likeness, likeness


class CellMark(StrEnum):
    """How a cell compares with that of the row that stays."""

    SAME = "same"
    SIMILAR = "similar"
    DIFFERENT = "different"
    MISSING = "missing"  # only one of the two cells has a value


@dataclass(frozen=True)
class GroupRow:
    """A row of a list. item: its text; id: in the list; cells: in the order of the columns."""

    item: int
    id: str
    cells: tuple[str, ...]


def kept_first(rows: Sequence[GroupRow]) -> list[GroupRow]:
    """Return the rows, first the one that stays: with the most cells filled, then the most letters, then the first."""
    if not rows:
        return []
    kept = max(rows, key=_completeness)
    return [kept, *(row for row in rows if row is not kept)]


def _completeness(row: GroupRow) -> tuple[int, int]:
    cells = [cell.strip() for cell in row.cells]
    return sum(map(bool, cells)), sum(map(len, cells))


def cell_marks(kept: Sequence[str], cells: Sequence[str]) -> list[CellMark]:
    """Return how each cell of a row compares with the one of the row that stays."""
    return [_mark(kept_cell.strip(), cell.strip()) for kept_cell, cell in zip(kept, cells, strict=True)]


def _mark(kept: str, cell: str) -> CellMark:
    if kept == cell:
        return CellMark.SAME
    alike = likeness(kept, cell)
    return CellMark(alike.value) if alike != Likeness.UNKNOWN else CellMark.MISSING
