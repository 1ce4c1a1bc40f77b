"""JSON Lines and Parquet files, row by row."""

import json
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from pyarrow import parquet

from allpairs.db.corpus.cells import MAX_CELL, MAX_COLUMNS, MAX_LINE, TableRow, as_text, bad
from allpairs.db.corpus.formats.dialect import as_utf8
from allpairs.db.corpus.formats.table import CellReader, FileFormat
from allpairs.db.errors import InputError


class JsonTable:
    """A file of JSON Lines: an object a line."""

    def __init__(self, path: Path, stream: IO[bytes], stated: FileFormat) -> None:
        self.path = path
        self.stream = stream
        self.format = stated
        self.notes: Sequence[str] = ()

    def names(self, enough: Sequence[str] = ()) -> list[str]:
        """Return the keys of all objects, in order of appearance, until these are among them, if there are any.

        No more than one beyond the limit.
        """
        keys: dict[str, None] = {}
        for _, record in _objects(self.path, as_utf8(self.path, self.stream)):
            keys.update(dict.fromkeys(record))
            if len(keys) > MAX_COLUMNS or (enough and keys.keys() >= set(enough)):
                break
        return list(keys)

    def rows(
        self, columns: Sequence[str], lenient: Mapping[str, CellReader], optional: Sequence[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the values of these columns, object by object."""
        readers = [lenient.get(column, as_text) for column in columns]
        required = [column for column in columns if column not in lenient and column not in optional]
        for number, record in _objects(self.path, as_utf8(self.path, self.stream)):
            missing = next((column for column in required if column not in record), None)
            if missing is not None:
                problem = (
                    "the object lacks this key, which other objects have; add it, with null where there is no value"
                )
                raise bad(problem, self.path, number, missing)
            pairs = zip(readers, columns, strict=True)
            yield TableRow(number, tuple(read(record.get(column), self.path, number, column) for read, column in pairs))


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


class ParquetTable:
    """A Parquet file; its rows are counted from 1."""

    def __init__(self, path: Path, stream: IO[bytes], stated: FileFormat) -> None:
        self.path = path
        self.stream = stream
        self.format = stated
        self.notes: Sequence[str] = ()

    def names(self, _enough: Sequence[str] = ()) -> list[str]:
        """Return the names of the top-level columns."""
        return list(parquet.read_schema(self.stream).names)

    def rows(
        self, columns: Sequence[str], lenient: Mapping[str, CellReader], _optional: Sequence[str] = ()
    ) -> Iterator[TableRow]:
        """Yield the values of these columns."""
        readers = [lenient.get(column, as_text) for column in columns]
        number = 0
        batches = parquet.ParquetFile(self.stream).iter_batches(8192, columns=list(dict.fromkeys(columns)))
        for batch in batches:
            values = [batch.column(column).to_pylist() for column in columns]
            for cells in zip(*values, strict=True):
                number += 1
                parts = zip(readers, cells, columns, strict=True)
                yield TableRow(number, tuple(read(cell, self.path, number, column) for read, cell, column in parts))


def sketched(value: object, path: Path, row: int | None, column: str) -> str:
    """Return the value of a typed cell as text, and `…` for a list or an object."""
    try:
        return as_text(value, path, row, column)
    except InputError:
        return "…"


def as_json(value: object, path: Path, row: int | None, column: str) -> str:
    """Return the value of a typed cell as text; that of a list or an object, which nobody compares, as JSON."""
    try:
        return as_text(value, path, row, column)
    except InputError:
        return json.dumps(value, ensure_ascii=False, default=str)
