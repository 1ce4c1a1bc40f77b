"""Tables in files (text, workbooks, JSON Lines and Parquet, also packed with gzip), read as checked rows of text."""

import difflib
import gzip
import os
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, cast

import pyarrow

from allpairs.db.corpus.cells import MAX_COLUMNS, TableRow, bad, checked_row, shown
from allpairs.db.corpus.formats.delimited import DelimitedTable
from allpairs.db.corpus.formats.structured import JsonTable, ParquetTable, as_json, sketched
from allpairs.db.corpus.formats.table import FileFormat, OpenedTable
from allpairs.db.corpus.formats.workbooks import SheetTable
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress

__all__ = [
    "FORMATS",
    "FileFormat",
    "FilePreview",
    "NoColumn",
    "ReadFile",
    "TableRow",
    "column_names",
    "file_errors_explained",
    "opened",
    "preview",
    "read_rows",
]

USUAL = {"csv": ",", "tsv": "\t"}  # what separates cells, where the rows do not tell
BETWEEN = 10_000  # rows between two reports of progress
NO_ROWS = "the file has a header but no rows; add rows"
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FORMATS |= dict.fromkeys(WORKBOOKS, "workbook")
TO_BE_FOUND = FileFormat()  # by looking into the file


class NoColumn(InputError):
    """A table lacks a column."""

    def __init__(self, problem: str, path: Path, column: str) -> None:
        super().__init__(str(bad(problem, path, 1, column)))
        self.column = column


class FilePreview(NamedTuple):
    """The columns of a table, its first rows with all of them, how the file holds it, and what to know of that.

    sheets: of a workbook, those to choose from.
    """

    names: list[str]
    rows: list[TableRow]
    format: FileFormat = TO_BE_FOUND
    notes: Sequence[str] = ()
    sheets: Sequence[str] = ()


@dataclass
class ReadFile:
    """How a file that has been read held its table, and what to know of that."""

    names: list[str] = field(default_factory=list)  # of all columns, known with the first row; maybe empty ones
    format: FileFormat = TO_BE_FOUND
    notes: list[str] = field(default_factory=list)


def read_rows(
    path: Path,
    columns: Sequence[str],
    progress: Progress = no_progress,
    without: str = NO_ROWS,
    optional: Sequence[str] = (),
    stated: FileFormat = TO_BE_FOUND,
    about: ReadFile | None = None,
    whole: bool = False,
) -> Iterator[TableRow]:
    """Yield the rows of a table, with the values of these columns as text; in constant memory, but for workbooks.

    optional: columns that may be empty, and that objects of JSON Lines may therefore lack; stated: what people say of
    the file; about: is told how it was read; whole: let the values of all columns follow, whatever they hold, in the
    order of the file. Raises InputError, one line with file, row and column, for anything that cannot be read; without:
    the error of a file without rows.
    """
    about = about or ReadFile()
    number_read = 0
    with file_errors_explained(path), opened(path) as stream:
        table = _table(path, stream, stated)
        about.names = _checked_names(path, table.names(() if whole else columns))
        _require(columns, about.names, path)
        lenient = {name: as_json for name in about.names if whole and name not in columns}
        read_columns = [*columns, *(about.names if whole else ())]
        for row in table.rows(read_columns, lenient, optional):
            if number_read % BETWEEN == 0:
                progress(f"reading {path.name}", _share_read(stream))
            number_read += 1
            yield checked_row(row, read_columns, path)
        about.format = table.format
        about.notes.extend(table.notes)
    if not number_read:
        raise bad(without, path)


def column_names(path: Path, stated: FileFormat = TO_BE_FOUND, enough: Sequence[str] = ()) -> list[str]:
    """Return the names of a table's columns.

    enough: names after which no more objects of JSON Lines are read, if there are any.
    Raises InputError if there are none, or if one occurs twice.
    """
    with file_errors_explained(path), opened(path) as stream:
        return _checked_names(path, _table(path, stream, stated).names(enough))


def _checked_names(path: Path, names: list[str]) -> list[str]:
    if not any(names):
        raise bad("the file is empty; it needs named columns and rows", path)
    if len(names) > MAX_COLUMNS:
        problem = f"the table has {len(names):,} columns, but the limit is {MAX_COLUMNS:,}; remove those not needed"
        raise bad(problem, path, 1)
    counts = Counter(names)
    twice = next((name for name in names if name and counts[name] > 1), None)
    if twice is not None:
        raise bad("two columns have this name; rename one", path, 1, twice)
    return names


def preview(path: Path, n: int, stated: FileFormat = TO_BE_FOUND) -> FilePreview:
    """Return the named columns and the first n rows; a list or an object is shown as `…`."""
    with file_errors_explained(path), opened(path) as stream:
        table = _table(path, stream, stated)
        names = [name for name in _checked_names(path, table.names()) if name]
        rows = list(islice(table.rows(names, dict.fromkeys(names, sketched)), n))
    sheets = table.sheets if isinstance(table, SheetTable) else ()
    return FilePreview(names, rows, table.format, table.notes, sheets)


def _share_read(stream: IO[bytes]) -> float:
    """Return the share of the file that has been read, 0 to 1; for a compressed file, of its compressed bytes."""
    raw = stream.fileobj if isinstance(stream, gzip.GzipFile) else stream
    return min(1.0, raw.tell() / max(1, os.fstat(raw.fileno()).st_size))


def _format(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; choose a file")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in FORMATS:
        raise bad(
            f"cannot read files that end in {shown(suffix)}; use {', '.join(FORMATS)}, or one of them + .gz", path
        )
    return FORMATS[suffix]


def _table(path: Path, stream: IO[bytes], stated: FileFormat) -> OpenedTable:
    stated = replace(stated, suffix="".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:]))
    kind = _format(path)
    if kind == "jsonl":
        return JsonTable(path, stream, stated)
    if kind == "parquet":
        return ParquetTable(path, stream, stated)
    if kind == "workbook":
        return SheetTable(path, stream, stated)
    return DelimitedTable(path, stream, USUAL[kind], stated)


def _require(columns: Sequence[str], names: list[str], path: Path) -> None:
    for column in columns:
        if column not in names:
            close = difflib.get_close_matches(column, names, 1, 0.5)
            hint = f"did you mean {shown(close[0])}?" if close else "choose one of these, or name the columns in row 1"
            if len(names) == 1 and _format(path) in USUAL:
                hint += "; if another sign separates its columns, say which in the first line, as in sep=:"
            listed = ", ".join(shown(name) for name in names[:20]) + (", …" if len(names) > 20 else "")
            raise NoColumn(f"no such column; the file has {listed}: {hint}", path, column)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open the file for its decompressed bytes."""
    kind = _format(path)
    if not path.name.lower().endswith(".gz"):
        with path.open("rb") as plain:
            yield plain
        return
    with gzip.open(path) as unpacked:
        stream = cast(IO[bytes], unpacked)
        if kind not in ("parquet", "workbook"):
            yield stream
            return
        with tempfile.TemporaryFile() as whole:  # these are read from their end, gzip from its start
            shutil.copyfileobj(stream, whole)
            whole.seek(0)
            yield whole


@contextmanager
def file_errors_explained(path: Path) -> Iterator[None]:
    """Turn exceptions of the system and of libraries about a file into InputError."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise bad(f"cannot unpack the gzip file ({error}); is it complete?", path) from None
    except pyarrow.ArrowException as error:
        raise bad(f"cannot read the Parquet file ({str(error).splitlines()[0]}); is it complete?", path) from None
    except OSError as error:
        raise InputError(f"{path}: cannot read the file ({error.strerror or str(error).splitlines()[0]})") from None
