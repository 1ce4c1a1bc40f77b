"""A clean list as a workbook for spreadsheets, written row by row."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.worksheet import Worksheet

from allpairs.db.errors import InputError
from allpairs.learner.light.clean.plan import CleanPlan, Rows
from allpairs.learner.light.clean.tables import CHANGED, added_columns, changed_rows, clean_rows, marked_rows

MOST_ROWS = 1_048_576  # of a sheet, with the header
MOST_COLUMNS = 16_384
MOST_SIGNS = 32_767  # of a cell
SHADES = ("#DCEBF7", "#FBE9D6")  # of groups, one after the other
# A number that a spreadsheet shows sign by sign as it was written; of more digits it would show a power of ten.
NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,9})(?:\.\d{0,8}[1-9])?")
SHOWN_DIGITS = 10
OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


def write_workbook(path: Path, name: str, rows: Rows, plan: CleanPlan, numbers: bool) -> None:
    """Write the sheets Clean, Marked and Changes. name: of the file, for errors.

    numbers: the list was a workbook, so that a column with nothing but plain numbers has numbers again; all else is
    text. Raises InputError for more rows, columns or letters of a cell than a workbook can hold.
    """
    changes = len(plan.removed) + sum(map(len, plan.new_cells.values()))
    if max(plan.rows, changes) + 1 > MOST_ROWS:
        problem = f"{name}: a sheet can hold {MOST_ROWS - 1:,} rows, and there are {max(plan.rows, changes):,}"
        raise InputError(f"{problem}; write a CSV file")
    columns = (*plan.columns, *added_columns(plan.columns))
    if len(columns) > MOST_COLUMNS:
        raise InputError(f"{name}: a sheet can hold {MOST_COLUMNS:,} columns, and these are {len(columns):,}")
    of_numbers = number_columns(rows, plan) if numbers else frozenset[int]()
    with Workbook(str(path), OPTIONS) as book:
        head = book.add_format({"bold": True, "bottom": 1})
        sheet = _Sheet(book.add_worksheet("Clean"), name, plan.columns, head, plan.clean_rows, of_numbers)
        for number, cells in enumerate(clean_rows(rows(), plan), 1):
            sheet.write(number, cells)
        sheet = _Sheet(book.add_worksheet("Marked"), name, columns, head, plan.rows, of_numbers)
        _write_marked(book, sheet, rows, plan)
        sheet = _Sheet(book.add_worksheet("Changes"), name, CHANGED, head, changes)
        for number, cells in enumerate(changed_rows(plan), 1):
            sheet.write(number, cells)


def write_sheet(
    path: Path, name: str, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Iterable[int]
) -> None:
    """Write a workbook of one sheet. numbers: the columns whose plain numbers are numbers. Raises InputError."""
    if len(rows) + 1 > MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise InputError(f"{name}: a sheet cannot hold {len(rows):,} rows, {len(columns):,} columns; write a CSV file")
    with Workbook(str(path), OPTIONS) as book:
        head = book.add_format({"bold": True, "bottom": 1})
        sheet = _Sheet(book.add_worksheet(title), name, columns, head, len(rows), numbers)
        for number, cells in enumerate(rows, 1):
            sheet.write(number, cells)


def _write_marked(book: Workbook, sheet: "_Sheet", rows: Rows, plan: CleanPlan) -> None:
    formats = {
        (shade, keep): book.add_format({"bg_color": shade, "bold": keep}) for shade in SHADES for keep in (True, False)
    }
    shade_of = dict[str, str]()
    for number, row in enumerate(marked_rows(rows(), plan), 1):
        form = None
        if row.group:
            form = formats[shade_of.setdefault(row.group.name, SHADES[len(shade_of) % len(SHADES)]), row.keep]
        sheet.write(number, (*row.cells, *row.marks), form)


def number_columns(rows: Rows, plan: CleanPlan) -> frozenset[int]:
    """Return the columns in which every cell that is filled is a number that looks the same in a spreadsheet."""
    numeric = set(range(len(plan.columns)))
    filled = set[int]()
    for row in rows():
        for place in tuple(numeric):
            if cell := row.cells[place]:
                filled.add(place)
                if not is_plain_number(cell):
                    numeric.remove(place)
    return frozenset(numeric & filled)


def is_plain_number(cell: str) -> bool:
    """Return whether a spreadsheet shows this number as it is written."""
    return len(cell) <= SHOWN_DIGITS and cell != "-0" and NUMBER.fullmatch(cell) is not None


class _Sheet:
    """A sheet with a header, written row by row. numbers: the columns whose cells are numbers."""

    def __init__(
        self,
        sheet: Worksheet,
        name: str,
        columns: Sequence[str],
        head: Any,
        rows: int,
        numbers: Iterable[int] = (),
    ) -> None:
        self.sheet = sheet
        self.name = name
        self.columns = columns
        self.numbers = frozenset(numbers)
        for place, column in enumerate(columns):
            sheet.set_column(place, place, min(max(len(column) + 3, 12), 40))
        sheet.freeze_panes(1, 0)
        sheet.autofilter(0, 0, rows, max(len(columns) - 1, 0))
        # Else each text of digits, such as a postcode, would have a green corner.
        sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{MOST_ROWS}"})
        for place, column in enumerate(columns):
            self._write_text(0, place, column, head)

    def write(self, number: int, cells: Sequence[str], form: Any = None) -> None:
        """Write the cells of a row, from 1."""
        for place, cell in enumerate(cells):
            if not cell:
                self.sheet.write_blank(number, place, None, form)
            elif place in self.numbers and is_plain_number(cell):
                self.sheet.write_number(number, place, float(cell), form)
            else:
                self._write_text(number, place, cell, form)

    def _write_text(self, number: int, place: int, cell: str, form: Any) -> None:
        if self.sheet.write_string(number, place, cell, form):
            problem = f"a cell of a workbook can hold {MOST_SIGNS:,} signs, and this one has {len(cell):,}"
            raise InputError(f"{self.name}, row {number}, column {self.columns[place]!r}: {problem}; write a CSV file")
