"""Writing tables to files: CSV, JSON Lines or Parquet, by the suffix of the name. Rows are streamed."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from allpairs.db.corpus.formula import guarded
from allpairs.db.errors import InputError

Row = Sequence[Any]
Columns = dict[str, type]
CHUNK = 10_000  # rows of a Parquet file that are in memory at once
_TYPES = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}


def write_table(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
    """Write the rows to the file and return their number. The file is complete or absent.

    Raises InputError for an unknown suffix, and for a folder that cannot be written to.
    """
    writer = writer_for(path)
    with whole(path) as partial:
        return writer(partial, columns, rows)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary file in the same folder and move it into place at the end, so that it is complete or absent.

    Raises InputError for a folder that does not exist or cannot be written to.
    """
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist; create it first")
    partial = path.with_name(f".{path.name}.part")
    try:
        yield partial
        partial.replace(path)
    except OSError as error:
        raise InputError(f"{path}: cannot write the file ({error.strerror or error})") from None
    finally:
        partial.unlink(missing_ok=True)


def writer_for(path: Path) -> Callable[[Path, Columns, Iterable[Row]], int]:
    """Return the function that writes files with this suffix. Raises InputError for an unknown one."""
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: cannot write files that end in {path.suffix!r}; use {', '.join(WRITERS)}")
    return WRITERS[path.suffix.lower()]


def _write_csv(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        for row in rows:
            writer.writerow(map(guarded, row))
            written += 1
    return written


def _write_jsonl(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows:
            stream.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")
            written += 1
    return written


def _write_parquet(path: Path, columns: Columns, rows: Iterable[Row]) -> int:
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


WRITERS = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
