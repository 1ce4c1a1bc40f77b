"""JSON Lines and Parquet files, row by row."""

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from pyarrow import parquet

from allpairs.db.corpus.cells import MAX_CELL, MAX_COLUMNS, MAX_LINE, TableRow, as_text, bad
from allpairs.db.errors import InputError


def json_names(path: Path, stream: IO[bytes], enough: Sequence[str] = ()) -> list[str]:
    """Return the keys of all objects, in order of appearance, until these are among them, if there are any.

    No more than one beyond the limit.
    """
    keys: dict[str, None] = {}
    for _, record in _objects(path, stream):
        keys.update(dict.fromkeys(record))
        if len(keys) > MAX_COLUMNS or (enough and keys.keys() >= set(enough)):
            break
    return list(keys)


def json_rows(
    path: Path, stream: IO[bytes], columns: Sequence[str], lenient: bool, optional: Sequence[str] = ()
) -> Iterator[TableRow]:
    """Yield the values of these columns, object by object.

    optional: keys that objects may lack, which is empty. lenient: any key may be missing, and what is not text is shown
    as `…`; otherwise both are errors.
    """
    text = _shown if lenient else as_text
    required = [] if lenient else [column for column in columns if column not in optional]
    for number, record in _objects(path, stream):
        missing = next((column for column in required if column not in record), None)
        if missing is not None:
            problem = "the object lacks this key, which other objects have; add it, with null where there is no value"
            raise bad(problem, path, number, missing)
        yield TableRow(number, tuple(text(record.get(column), path, number, column) for column in columns))


def _objects(path: Path, stream: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    number = 0
    while raw := stream.readline(MAX_LINE):
        number += 1
        if number == 1:
            raw = raw.removeprefix(BOM_UTF8)
        if len(raw) == MAX_LINE and not raw.endswith(b"\n"):
            raise bad(
                f"the line has at least {MAX_LINE:,} bytes, but a cell may have {MAX_CELL:,} characters", path, number
            )
        if raw.strip():
            yield number, _object(raw, path, number)


def _object(raw: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record = json.loads(raw.decode(), object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        problem = f"byte 0x{raw[error.start]:02X} at position {error.start + 1} of the line is not UTF-8"
        raise bad(f"{problem}; save the file as UTF-8", path, number) from None
    except json.JSONDecodeError as error:
        problem = f"not valid JSON at character {error.pos + 1} ({error.msg}); write one object a line"
        raise bad(problem, path, number) from None
    except _Twice as twice:
        raise bad("two values of the object have this key; keep one", path, number, str(twice)) from None
    except (ValueError, RecursionError):  # numbers with thousands of digits, endless nesting
        raise bad("the JSON is nested too deeply, or has a number that is too long", path, number) from None
    if not isinstance(record, dict):
        raise bad(f"the line is a JSON {type(record).__name__}, not an object with named values", path, number)
    return record


class _Twice(Exception):
    """An object has two values of this key."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        raise _Twice(Counter(key for key, _ in pairs).most_common(1)[0][0])
    return record


def parquet_names(stream: IO[bytes]) -> list[str]:
    """Return the names of the top-level columns."""
    return list(parquet.read_schema(stream).names)


def parquet_rows(path: Path, stream: IO[bytes], columns: Sequence[str], lenient: bool) -> Iterator[TableRow]:
    """Yield the values of these columns; rows are counted from 1. lenient: what is not text is shown as `…`."""
    text = _shown if lenient else as_text
    number = 0
    for batch in parquet.ParquetFile(stream).iter_batches(batch_size=8192, columns=list(dict.fromkeys(columns))):
        values = [batch.column(column).to_pylist() for column in columns]
        for cells in zip(*values, strict=True):
            number += 1
            pairs = zip(cells, columns, strict=True)
            yield TableRow(number, tuple(text(cell, path, number, column) for cell, column in pairs))


def _shown(value: object, path: Path, row: int, column: str) -> str:
    try:
        return as_text(value, path, row, column)
    except InputError:
        return "…"
