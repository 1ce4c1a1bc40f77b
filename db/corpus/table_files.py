"""Write tables to files: CSV, JSON Lines or Parquet, by the suffix of the name. Rows are streamed."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from allpairs.db.corpus.csv_writer import encoded_line, write_csv
from allpairs.db.errors import InputError

Row = Sequence[Any]
Columns = dict[str, type]
Writer = Callable[[Path, Columns, Iterable[Row], bool], int]
CHUNK = 10_000  # rows of a Parquet file that are in memory at once
_TYPES = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
_KINDS = {"i": int, "f": float, "b": int, "O": str, "U": str}  # of a column of a data frame


def write_table(path: Path, columns: Columns, rows: Iterable[Row], for_people: bool = False) -> int:
    """Write the rows to the file and return their number. The file is complete or absent.

    for_people: mark a CSV file as UTF-8, for spreadsheets. Raises InputError for an unknown suffix, a folder that
    cannot be written to, and half a character.
    """
    writer = writer_for(path)
    with whole_file(path) as partial:
        return writer(partial, columns, rows, for_people)


def write_frame(path: Path, frame: Any) -> int:
    """Write the data frame of pandas as `write_table` does."""
    return write_table(path, {name: _KINDS[kind.kind] for name, kind in frame.dtypes.items()}, frame_rows(frame))


def require_writable(path: Path) -> None:
    """Raise InputError if `write_table` could not write the file, before anything is computed for it."""
    writer_for(path)
    require_place(path)


def require_place(path: Path) -> None:
    """Raise InputError unless a file of this name can be written there."""
    _require_folder(path)
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise InputError(f"{path} cannot be written: name a file in a folder that you may write to")


def frame_rows(frame: Any) -> Iterator[Row]:
    """Yield the rows of a data frame; a missing value is None."""
    cells = frame.astype(object)
    yield from cells.where(frame.notna(), None).itertuples(index=False, name=None)


def _require_folder(path: Path) -> None:
    """Raise InputError unless the file's folder exists."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; create it first")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder and move it into place at the end, so that it is complete or absent.

    Raises InputError for a folder that does not exist or cannot be written to.
    """
    _require_folder(path)
    partial = path.with_name(f".{path.name}.part")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot write the file ({error.strerror or error})") from None
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: a text has half a character (a lone surrogate); correct the text") from error
    finally:
        partial.unlink(missing_ok=True)


def writer_for(path: Path) -> Writer:
    """Return the function that writes files with this suffix. Raises InputError for an unknown one."""
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: cannot write files that end in {path.suffix!r}; use {', '.join(WRITERS)}")
    return WRITERS[path.suffix.lower()]


def _write_csv(path: Path, columns: Columns, rows: Iterable[Row], for_people: bool) -> int:
    return write_csv(path, list(columns), rows, for_people)


def _write_jsonl(path: Path, columns: Columns, rows: Iterable[Row], _for_people: bool) -> int:
    number = 0
    with path.open("wb") as stream:
        for number, row in enumerate(rows, 1):
            line = json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False)
            stream.write(encoded_line(f"{line}\n", number))
    return number


def _write_parquet(path: Path, columns: Columns, rows: Iterable[Row], _for_people: bool) -> int:
    schema = pyarrow.schema([(name, _TYPES[kind]) for name, kind in columns.items()])
    written = 0
    with pyarrow.parquet.ParquetWriter(path, schema) as writer:
        for chunk in _chunks(rows):
            cells = [
                pyarrow.array(column, kind) for column, kind in zip(zip(*chunk, strict=True), schema.types, strict=True)
            ]
            writer.write_batch(pyarrow.record_batch(cells, schema=schema))
            written += len(chunk)
    return written


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    rows = iter(rows)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


WRITERS: dict[str, Writer] = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
