"""Lists of texts on disk, of any size, read by row without loading the list."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.ipc

CHUNK = 20_000  # rows in one record batch


class TextTable:
    """Columns of text in a memory-mapped Arrow file: only the requested rows are read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[type["TextTable"], tuple[Path]]:
        return TextTable, (self.path,)  # another process maps the file itself

    @cached_property
    def _parts(self) -> list[pyarrow.RecordBatch]:
        file = pyarrow.ipc.open_file(pyarrow.memory_map(str(self.path)))
        return [file.get_batch(number) for number in range(file.num_record_batches)]

    def __len__(self) -> int:
        return sum(part.num_rows for part in self._parts)

    def take(self, rows: np.ndarray | Sequence[int], column: str = "text") -> list[str]:
        """Return the column's values of these rows, in their order."""
        return [self._parts[row // CHUNK].column(column)[row % CHUNK].as_py() for row in map(int, rows)]

    def all(self, column: str = "text") -> list[str]:
        """Return the whole column, in memory."""
        return [value for part in self._parts for value in part.column(column).to_pylist()]

    def values(self, column: str) -> Iterator[str]:
        """Yield the column, part by part."""
        for part in self._parts:
            yield from part.column(column).to_pylist()

    def rows_of(self, ids: Iterable[str]) -> dict[str, int]:
        """Return the first row of each of these ids that exists."""
        distinct = set(ids)
        rows = dict[str, int]()
        for row, id_ in enumerate(self.values("id")):
            if id_ in distinct:
                rows.setdefault(id_, row)
        return rows


def write_texts(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> TextTable:
    """Write the rows to the file and return its table."""
    schema = pyarrow.schema([(name, pyarrow.large_string()) for name in columns])
    with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, schema) as writer:
        part: list[Sequence[str]] = []
        for row in rows:
            part.append(row)
            if len(part) == CHUNK:
                writer.write_batch(_batch(part, schema))
                part = []
        if part:
            writer.write_batch(_batch(part, schema))
    return TextTable(path)


def _batch(rows: Sequence[Sequence[str]], schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    arrays = [pyarrow.array(values, pyarrow.large_string()) for values in zip(*rows, strict=True)]
    return pyarrow.record_batch(arrays, schema=schema)
