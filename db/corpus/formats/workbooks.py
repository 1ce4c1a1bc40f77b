"""Workbooks of Excel and LibreOffice: a sheet as a table, its cells as people see them."""

import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import IO, Any

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, PasswordError, SheetVisibleEnum
from xlsxwriter.utility import xl_cell_to_rowcol

from allpairs.db.corpus.cells import TableRow, as_text, bad, shown, with_noun
from allpairs.db.corpus.formats.sheet_heads import Span, find_head
from allpairs.db.corpus.formats.table import CellReader, FileFormat

MOST_CELLS = 30_000_000  # of a sheet, empty ones too: all of them are held in memory
LOOKED_AT = 50  # rows among which the head is looked for
CHUNK = 1 << 20  # bytes of a sheet
OVERLAP = 200  # bytes that the beginning of a cell has at the most
# Column and row of a cell that holds something, in a sheet of a workbook (.xlsx).
_FILLED = re.compile(rb'<(?:\w+:)?c r="([A-Z]{1,3})([0-9]{1,7})"[^>/]*><[^/]')
_TOTAL = re.compile(r"(?i)(grand |sub)?totals?( général)?|sums?|(gesamt|zwischen)?summe|gesamt|insgesamt|somme")


class SheetTable:
    """The sheet of a workbook that somebody chose, else the first with rows.

    sheets: the names of those to choose from.
    """

    def __init__(self, path: Path, stream: IO[bytes], stated: FileFormat) -> None:
        self.path = path
        self.notes: list[str] = []
        book = _opened(path, stream)
        self.sheets = tuple(entry.name for entry in book.sheets_metadata if entry.visible == SheetVisibleEnum.Visible)
        self._sheet = self._chosen(book, stated.sheet)
        self.format = replace(stated, sheet=self._sheet.name)
        top, left = self._sheet.start or (0, 0)
        self._first_row = top + 1  # its number, from 1
        spans = [Span(a - top, b - left, c - top, d - left) for (a, b), (c, d) in self._sheet.merged_cell_ranges or ()]
        head = find_head([list(map(shown_cell, row)) for row in islice(self._rows_of_sheet(), LOOKED_AT)], spans)
        self._below = head.below
        self._columns = head.named(left, self._filled_columns(head.unnamed, head.below))
        if head.title:
            row = self._first_row + head.row
            self._note(f"the names are in row {row}; what is above them was left out ({shown(head.title)})")
        self._continued = defaultdict[int, list[int]](list)  # columns by row: in merged cells with the row above
        for span in spans:
            for row in range(max(span.top, head.below) + 1, span.bottom + 1):
                self._continued[row].append(span.left)
        if self._continued:
            self._note("cells that are merged over several rows were read as if each row had their value")

    def _chosen(self, book: CalamineWorkbook, name: str) -> CalamineSheet:
        """Return the sheet; note which others have rows if nobody chose it."""
        if name:
            if name not in self.sheets:
                raise bad(
                    f"no such sheet; choose one of {', '.join(map(shown, self.sheets))}",
                    Path(f"{self.path.name}, sheet {shown(name)}"),
                )
            return book.get_sheet_by_name(name)
        first: CalamineSheet | None = None
        others = list[str]()
        for sheet in map(book.get_sheet_by_name, self.sheets):  # one at a time in memory, beside the first
            if sheet.height > 1 and first is None:
                first = sheet
            elif sheet.height > 1:
                others.append(shown(sheet.name))
        if first is None:
            raise bad("no sheet has names of columns with rows below them; add rows", self.path)
        if others:
            names = ", ".join(others)
            self._note(f"the sheet {shown(first.name)} was read, not {names}; choose the sheet if it is another")
        return first

    def _rows_of_sheet(self) -> Iterator[list[Any]]:
        """Yield the cells of each row from the first that has any; the library puts the rows above it first."""
        return islice(self._sheet.iter_rows(), self._first_row - 1, None)

    def _note(self, line: str) -> None:
        self.notes.append(f"{self.path.name}: {line}.")

    def _filled_columns(self, columns: set[int], below: int) -> set[int]:
        """Return those of the columns that have values in the rows."""
        filled = set[int]()
        for row in islice(self._rows_of_sheet(), below, None):
            if filled == columns:
                break
            filled.update(column for column in columns - filled if shown_cell(row[column]))
        return filled

    def names(self, enough: Sequence[str] = ()) -> list[str]:
        """Return the names of the columns that have a name or values."""
        return [name for name, _ in self._columns]

    def rows(
        self, columns: Sequence[str], lenient: Mapping[str, CellReader], optional: Sequence[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the values of these columns, without empty rows and a total at the end."""
        place_of = dict(self._columns)
        places = [place_of[column] for column in columns]
        empty = set(columns)
        last: tuple[int, list[str]] | None = None
        for row in self._filled_rows():
            if last is not None:
                yield TableRow(last[0], tuple(last[1][place] for place in places))
            last = row
            empty -= {column for column in empty if row[1][place_of[column]]}
        if last is None:
            return
        number, cells = last
        if total := self._total(cells):
            self._note(f"row {number} was left out, since it looks like a total ({shown(total)})")
        else:
            yield TableRow(number, tuple(cells[place] for place in places))
        if empty:
            names = ", ".join(shown(column) for column in columns if column in empty)
            hint = "if it has formulas, open the workbook in Excel or LibreOffice and save it, so that they have values"
            self._note(f"{with_noun(len(empty), 'column')} without values ({names}); {hint}")

    def _filled_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the cells of each row that has any."""
        cells: list[str] = []
        for place, row in enumerate(self._rows_of_sheet()):
            if place < self._below:
                continue
            above = cells
            cells = list(map(shown_cell, row))
            for column in self._continued.get(place, ()):
                cells[column] = above[column]
            if any(cells):
                yield self._first_row + place, cells

    def _total(self, cells: list[str]) -> str:
        """Return the word that makes the row a total; empty if it is a row like others."""
        word = next((cell for cell in cells if _TOTAL.fullmatch(cell.strip(" :"))), "")
        return word if sum(map(bool, cells)) * 2 <= len(self._columns) else ""


def shown_cell(value: Any) -> str:
    """Return a cell as people see it: numbers with 15 digits, dates in ISO 8601, a time only where there is one."""
    match value:
        case str():
            return value if value.strip() else ""
        case float():
            return as_text(float(f"{value:.15g}"), Path(), None, "")
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case timedelta():
            minutes, seconds = divmod(round(value.total_seconds()), 60)
            return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return as_text(value, Path(), None, "")


def _opened(path: Path, stream: IO[bytes]) -> CalamineWorkbook:
    stream.seek(0)
    try:
        if zipfile.is_zipfile(stream):
            _check_size(path, stream)
        stream.seek(0)
        return CalamineWorkbook.from_filelike(stream)
    except PasswordError:
        raise bad("the workbook is protected by a password; save it without one", path) from None
    except (CalamineError, zipfile.BadZipFile) as error:
        if b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k" in _start(stream):
            raise bad("the workbook is protected by a password; save it without one", path) from None
        reason = str(error).splitlines()[0]
        raise bad(
            f"this is no workbook, though its name says so ({reason}); correct the end of its name", path
        ) from None


def _start(stream: IO[bytes]) -> bytes:
    stream.seek(0)
    return stream.read(CHUNK)


def _check_size(path: Path, stream: IO[bytes]) -> None:
    """Raise InputError for a sheet with a cell far away: the reader takes memory for all cells up to it."""
    with zipfile.ZipFile(stream) as archive:
        for name in archive.namelist():
            if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                with archive.open(name) as sheet:
                    column, row = _last_cell(sheet)
                if row and (xl_cell_to_rowcol(f"{column}1")[1] + 1) * row > MOST_CELLS:
                    problem = f"a sheet has something as far as column {column}, row {row:,}: too large to read"
                    raise bad(f"{problem}; delete what lies beyond the table, or save the sheet as CSV", path)


def _last_cell(sheet: IO[bytes]) -> tuple[str, int]:
    """Return the last column, and the last row, that hold something."""
    columns = {b""}
    row = 0
    rest = b""
    while chunk := sheet.read(CHUNK):
        data = rest + chunk
        cells = _FILLED.findall(data)
        columns.update(column for column, _ in cells)
        row = int(cells[-1][1]) if cells else row
        rest = data[-OVERLAP:]
    return max(columns, key=lambda column: (len(column), column)).decode(), row
