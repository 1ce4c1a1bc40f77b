"""Tables written to files: CSV, JSON Lines, Parquet, by the ending of the name."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from db.domain import InputError

Row = Sequence[Any]


def write_table(path: Path, columns: dict[str, type], rows: Iterable[Row]) -> int:
    """The number of rows written; the file is complete or not there.

    Raises InputError for an unknown ending and a folder that cannot be written.
    """
    writer = writer_for(path)
    aside = path.with_name(f".{path.name}.part")
    try:
        written = writer(aside, columns, list(rows))
        aside.replace(path)
    except OSError as error:
        aside.unlink(missing_ok=True)
        raise InputError(f"{path}: cannot write the file ({error.strerror or error})") from None
    return written


def writer_for(path: Path) -> Callable[[Path, dict[str, type], list[Row]], int]:
    """The function that writes files with this ending.

    Raises InputError for an unknown ending and a missing folder.
    """
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: cannot write files that end in {path.suffix!r}; use {', '.join(WRITERS)}")
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    return WRITERS[path.suffix.lower()]


def _write_csv(path: Path, columns: dict[str, type], rows: list[Row]) -> int:
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows(rows)
    return len(rows)


def _write_jsonl(path: Path, columns: dict[str, type], rows: list[Row]) -> int:
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows:
            stream.write(json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) + "\n")
    return len(rows)


def _write_parquet(path: Path, columns: dict[str, type], rows: list[Row]) -> int:
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64()}
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    arrays = [pyarrow.array(cells, types[kind]) for cells, kind in zip(values, columns.values(), strict=True)]
    pyarrow.parquet.write_table(pyarrow.table(arrays, names=list(columns)), path)
    return len(rows)


WRITERS = {".csv": _write_csv, ".jsonl": _write_jsonl, ".parquet": _write_parquet}
