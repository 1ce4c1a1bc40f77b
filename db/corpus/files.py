"""Tables in files (CSV, TSV, JSON Lines and Parquet, also compressed with gzip), read as checked rows of text."""

import difflib
import gzip
import os
import shutil
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple, cast

import pyarrow

from allpairs.db.corpus import delimited, structured
from allpairs.db.corpus.cells import MAX_COLUMNS, TableRow, bad, checked_row, shown
from allpairs.db.corpus.delimited import Lines
from allpairs.db.corpus.dialect import as_utf8
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress

__all__ = [
    "FORMATS",
    "FilePreview",
    "NoColumn",
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
WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}


class NoColumn(InputError):
    """A table lacks a column."""

    def __init__(self, problem: str, path: Path, column: str) -> None:
        super().__init__(str(bad(problem, path, 1, column)))
        self.column = column


class FilePreview(NamedTuple):
    """The columns of a table, its first rows with all of them, and what separates cells: "" where nothing does.

    note: on the encoding of these rows, if it is not UTF-8.
    """

    names: list[str]
    rows: list[TableRow]
    separator: str = ""
    note: str | None = None


def read_rows(
    path: Path,
    columns: Sequence[str],
    progress: Progress = no_progress,
    without: str = NO_ROWS,
    optional: Sequence[str] = (),
    separator: str = "",
    notes: list[str] | None = None,
) -> Iterator[TableRow]:
    """Yield the rows of a table, with the values of these columns as text, in constant memory.

    optional: columns that may be empty, and that objects of JSON Lines may therefore lack; separator: of the cells of
    a text file, found from its head if it is ""; notes: to add one on an encoding other than UTF-8. Raises InputError,
    one line with file, row and column, for anything that cannot be read; without: the error of a file without rows.
    """
    _require(columns, column_names(path, separator, columns), path)
    read = 0
    with file_errors_explained(path), opened(path) as stream:
        lines = _lines(path, stream, separator)
        for row in _rows(path, stream, lines, columns, optional=optional):
            if read % BETWEEN == 0:
                progress(f"reading {path.name}", _share_read(stream))
            read += 1
            yield checked_row(row, columns, path)
    if not read:
        raise bad(without, path)
    if notes is not None and lines is not None and lines.note is not None:
        notes.append(lines.note)


def column_names(path: Path, separator: str = "", enough: Sequence[str] = ()) -> list[str]:
    """Return the names of a table's columns.

    enough: names after which no more objects of JSON Lines are read, if there are any.
    Raises InputError if there are none, or if one occurs twice.
    """
    with file_errors_explained(path), opened(path) as stream:
        names = _names(path, stream, _lines(path, stream, separator), enough)
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


def preview(path: Path, n: int, separator: str = "") -> FilePreview:
    """Return the named columns and the first n rows; a list or an object is shown as `…`."""
    names = [name for name in column_names(path, separator) if name]
    with file_errors_explained(path), opened(path) as stream:
        lines = _lines(path, stream, separator)
        rows = list(islice(_rows(path, stream, lines, names, lenient=True), n))
    return FilePreview(names, rows) if lines is None else FilePreview(names, rows, lines.dialect.separator, lines.note)


def _share_read(stream: IO[bytes]) -> float:
    """Return the share of the file that has been read, 0 to 1; for a compressed file, of its compressed bytes."""
    raw = stream.fileobj if isinstance(stream, gzip.GzipFile) else stream
    return min(1.0, raw.tell() / max(1, os.fstat(raw.fileno()).st_size))


def _format(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; choose a file")
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in WORKBOOKS:
        raise bad("this is a workbook; save the sheet as CSV (in Excel: “CSV UTF-8”) and choose that file", path)
    if suffix not in FORMATS:
        raise bad(
            f"cannot read files that end in {shown(suffix)}; use {', '.join(FORMATS)}, or one of them + .gz", path
        )
    return FORMATS[suffix]


def _lines(path: Path, stream: IO[bytes], separator: str) -> Lines | None:
    """Return the lines of a text file with separated cells; None for other tables."""
    usual = USUAL.get(_format(path))
    return None if usual is None else delimited.opened_lines(path, stream, usual, separator)


def _names(path: Path, stream: IO[bytes], lines: Lines | None, enough: Sequence[str]) -> list[str]:
    if lines is not None:
        return delimited.names(lines)
    if _format(path) == "jsonl":
        return structured.json_names(path, as_utf8(path, stream), enough)
    return structured.parquet_names(stream)


def _rows(
    path: Path,
    stream: IO[bytes],
    lines: Lines | None,
    columns: Sequence[str],
    lenient: bool = False,
    optional: Sequence[str] = (),
) -> Iterator[TableRow]:
    if lines is not None:
        return delimited.rows(lines, columns)
    if _format(path) == "jsonl":
        return structured.json_rows(path, as_utf8(path, stream), columns, lenient, optional)
    return structured.parquet_rows(path, stream, columns, lenient)


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
        if kind != "parquet":
            yield stream
            return
        with tempfile.TemporaryFile() as whole:  # Parquet is read from its end, gzip from its start
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
