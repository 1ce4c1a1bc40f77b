"""What all formats of tables have in common."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from allpairs.db.corpus.cells import TableRow

CellReader = Callable[[object, Path, int | None, str], str]  # value, file, row and column into text


@dataclass(frozen=True)
class FileFormat:
    """How a file holds its table: as it was found, or as people say, with "" for what is to be found in the file.

    separator and encoding are of a text file, sheet of a workbook; suffix is the end of the file's name.
    """

    separator: str = ""
    encoding: str = ""  # as Python names it
    sheet: str = ""
    suffix: str = ""
    bom: bool = False  # whether UTF-8 begins with its mark
    guarded: bool = False  # whether cells that could be formulas have an apostrophe (`db/corpus/formula.py`)


class OpenedTable(Protocol):
    """An opened table. Its format and notes are complete once its rows are read."""

    @property
    def format(self) -> FileFormat:
        """How the file turned out to hold the table."""

    @property
    def notes(self) -> Sequence[str]:
        """What people should know of how it was read."""

    def names(self, enough: Sequence[str] = ()) -> list[str]:
        """Return the names of the columns; enough: names after which a file that repeats them is read no further."""

    def rows(
        self, columns: Sequence[str], lenient: Mapping[str, CellReader], optional: Sequence[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the values of these columns, row by row.

        lenient: readers of the columns that may lack, or hold what is not text; optional: columns that may lack.
        """
