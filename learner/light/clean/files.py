"""The files of a clean list: one workbook with three sheets, or three files.

A list that was separated text goes out as it came in, cell for cell. A cell that a spreadsheet would run as a formula
gets no apostrophe (`db/corpus/formula.py`): the person's own file ran it too, and telephone numbers begin so. If cells
of the list came with that apostrophe, they get it again. A list of another kind, in which such a cell was harmless
text, is guarded when it becomes separated text. A workbook holds texts and numbers alone, never a formula.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path

from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.csv_writer import csv_line
from allpairs.db.corpus.files import WORKBOOKS, FileFormat
from allpairs.db.corpus.table_files import WRITERS, require_place, whole_file, writer_for
from allpairs.db.errors import InputError
from allpairs.learner.light.clean.plan import CleanPlan, Rows
from allpairs.learner.light.clean.tables import (
    ADDED_TO_NEW,
    CHANGED,
    added_columns,
    changed_rows,
    clean_rows,
    marked_rows,
    rows_with_kept,
)
from allpairs.learner.light.clean.workbook import number_columns, write_sheet, write_workbook

WORKBOOK = ".xlsx"
SEPARATED = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
UTF_8_WITH_MARK = "utf-8-sig"
CLEAN = "clean"
MARKED = "marked"
CHANGES = "changes"
NEW = "new"
TABLES = (CLEAN, MARKED, CHANGES)

Table = tuple[Sequence[str], Callable[[], Iterable[Sequence[str]]]]


def table_paths(out: Path, tables: Collection[str] = TABLES) -> tuple[Path, ...]:
    """Return the files of these tables, that of the clean list without a word at its end; one for a workbook."""
    if out.suffix.lower() == WORKBOOK:
        return (out,)
    ends = {CLEAN: "", MARKED: f"-{MARKED}", CHANGES: f"-{CHANGES}"}
    return tuple(out.with_name(f"{out.stem}{ends[table]}{out.suffix}") for table in tables)


def new_rows_path(out: Path) -> Path:
    """Return the file of the new rows beside that of the clean list."""
    return out.with_name(f"{out.stem}-{NEW}{out.suffix}")


def require_table_paths(out: Path) -> None:
    """Raise InputError if the files could not be written, before anything is computed for them."""
    if out.suffix.lower() not in (WORKBOOK, *SEPARATED, *WRITERS):
        names = ", ".join((WORKBOOK, *SEPARATED, *(suffix for suffix in WRITERS if suffix not in SEPARATED)))
        raise InputError(f"{out}: cannot write files that end in {shown(out.suffix)}; use {names}")
    for path in table_paths(out):
        require_place(path)


def write_clean_list(
    out: Path, rows: Rows, plan: CleanPlan, form: FileFormat, tables: Sequence[str] = TABLES
) -> list[str]:
    """Write the clean list, the marked one and the changes, all of them or none; return notes for people.

    form: of the list that came in, whose separator and encoding the new files have; tables: which to write, but for a
    workbook, which has all. Raises InputError for what the files cannot hold.
    """
    require_table_paths(out)
    if out.suffix.lower() == WORKBOOK:
        with whole_file(out) as partial:
            write_workbook(partial, out.name, rows, plan, numbers=form.suffix.lower() in WORKBOOKS)
        return []
    notes = list[str]()
    with ExitStack() as stack:
        for path, table in zip(table_paths(out, tables), tables, strict=True):
            notes += _write_table(stack.enter_context(whole_file(path)), path, clean_tables(rows, plan)[table], form)
    return notes


def write_new_rows(out: Path, rows: Rows, plan: CleanPlan, form: FileFormat, ids: Collection[str]) -> list[str]:
    """Write the rows with these ids, each with its group and the id of the row that stays; return notes for people.

    Raises InputError as `write_clean_list`.
    """
    columns = (*plan.columns, *added_columns(plan.columns, ADDED_TO_NEW))
    with whole_file(out) as partial:
        if out.suffix.lower() != WORKBOOK:
            return _write_table(partial, out, (columns, lambda: rows_with_kept(rows(), plan, ids)), form)
        numbers = number_columns(rows, plan) if form.suffix.lower() in WORKBOOKS else ()
        write_sheet(partial, out.name, "New", columns, list(rows_with_kept(rows(), plan, ids)), numbers)
    return []


def _write_table(partial: Path, path: Path, table: Table, form: FileFormat) -> list[str]:
    """Write one table to the partial file; path: its name and its kind. Return notes for people."""
    columns, table_rows = table
    if path.suffix.lower() not in SEPARATED:
        writer_for(path)(partial, dict.fromkeys(columns, str), table_rows(), False)
        return []
    encoding = _with_mark(form.encoding)
    try:
        _write_separated(partial, path, table, form, encoding)
        return []
    except UnicodeEncodeError as error:
        if encoding == UTF_8_WITH_MARK:
            raise
        _write_separated(partial, path, table, form, UTF_8_WITH_MARK)
        letter = shown(error.object[error.start])
        return [f"{path.name} is in UTF-8: {form.encoding}, in which the list came, has no {letter}."]


def _with_mark(encoding: str) -> str:
    """Return the encoding; of Unicode the one that begins with a mark, without which Excel reads Western European."""
    unicode = {"utf-8": UTF_8_WITH_MARK, "utf-16-le": "utf-16", "utf-16-be": "utf-16"}
    return unicode.get(encoding, encoding) or UTF_8_WITH_MARK


def _write_separated(partial: Path, path: Path, table: Table, form: FileFormat, encoding: str) -> None:
    columns, table_rows = table
    usual = SEPARATED[path.suffix.lower()]
    separator = usual if path.suffix.lower() == ".tsv" else form.separator or usual
    as_written = bool(form.separator) and not form.guarded
    with partial.open("w", encoding=encoding, newline="") as stream:
        # Lines end as in Excel's files.
        stream.writelines(csv_line(row, separator, "\r\n", as_written) for row in chain([columns], table_rows()))


def clean_tables(rows: Rows, plan: CleanPlan) -> dict[str, Table]:
    """Return the columns and the rows of the three tables, by their names."""
    marked_columns = (*plan.columns, *added_columns(plan.columns))
    return {
        CLEAN: (plan.columns, lambda: clean_rows(rows(), plan)),
        MARKED: (marked_columns, lambda: ((*row.cells, *row.marks) for row in marked_rows(rows(), plan))),
        CHANGES: (CHANGED, lambda: changed_rows(plan)),
    }
