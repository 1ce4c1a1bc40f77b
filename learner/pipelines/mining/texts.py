"""The texts of few-shot mining: a list on disk, read piece by piece."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from allpairs.db.corpus.cells import bad, shown
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.progress import Progress
from allpairs.learner.pipelines.mining.filters import read_date

CHUNK = 50_000  # texts in memory at once
ID = "id"
TEXT = "text"
DATE = "date"


@dataclass(frozen=True)
class TextList:
    """A list of texts in a Parquet file; rows keep the order of the source file."""

    path: Path

    def __len__(self) -> int:
        return int(pyarrow.parquet.read_metadata(self.path).num_rows)

    def chunks(self, column: str = TEXT) -> Iterator[list[str]]:
        """Yield the column, 50,000 rows at a time."""
        for batch in pyarrow.parquet.ParquetFile(self.path).iter_batches(CHUNK, columns=[column]):
            yield batch.column(0).to_pylist()

    def take(self, rows: np.ndarray, column: str = TEXT) -> list[str]:
        """Return the column's values of these rows (n,), in their order."""
        distinct, inverse = np.unique(rows, return_inverse=True)
        values: list[str] = []
        start = 0
        for chunk in self.chunks(column):
            in_chunk = distinct[(distinct >= start) & (distinct < start + len(chunk))]
            values += [chunk[row - start] for row in in_chunk.tolist()]
            start += len(chunk)
        return [values[row] for row in inverse.tolist()]

    def all(self, column: str = TEXT) -> list[str]:
        """Return the whole column."""
        return [value for chunk in self.chunks(column) for value in chunk]


def copy_texts(source: Path, target: Path, dated: bool, progress: Progress) -> TextList:
    """Copy the texts of a table with the columns id and text, and date if `dated`; constant memory.

    Raises InputError, which names file, row and column, for an unreadable table and for an empty text.
    """
    columns = (ID, TEXT, DATE) if dated else (ID, TEXT)
    schema = pyarrow.schema([(name, pyarrow.large_string()) for name in columns])
    with pyarrow.parquet.ParquetWriter(target, schema) as writer:
        for rows in _chunks(source, columns, progress):
            values = dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))
            writer.write_table(pyarrow.table(values, schema=schema))
    return TextList(target)


def _chunks(source: Path, columns: Sequence[str], progress: Progress) -> Iterator[list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    for row in read_rows(source, columns, progress):
        if not row.values[1].strip():
            raise bad("the text is empty; remove the row", source, row.number, TEXT)
        if DATE in columns:
            read_date(row.values[-1], source, row.number)
        rows.append(row.values)
        if len(rows) == CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def read_text_pairs(path: Path, columns: tuple[str, str] = ("x", "y")) -> list[tuple[str, str]]:
    """Return the pairs of texts in a table. Raises InputError, naming file, row and column, also for empty texts."""
    pairs = []
    for row in read_rows(path, columns):
        if not all(value.strip() for value in row.values):
            column = columns[0] if not row.values[0].strip() else columns[1]
            raise bad("the text is empty; remove the row", path, row.number, column)
        pairs.append((row.values[0], row.values[1]))
    return pairs


def require_columns(path: Path, columns: Sequence[str]) -> None:
    """Raise InputError if the table lacks one of the columns."""
    names = column_names(path)
    for column in columns:
        if column not in names:
            raise bad(f"no such column; the file has {', '.join(map(shown, names[:20]))}", path, 1, column)
