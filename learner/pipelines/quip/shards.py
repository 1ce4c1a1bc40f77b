"""Work in shards: each has a file, which exists only when complete, so that a stopped stage resumes with the next.

A shard is a Parquet file. Its contents are a dictionary: lists and arrays are columns, numbers are in the file's
metadata.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow
import pyarrow.parquet

from allpairs.db.progress import Progress
from allpairs.learner.pipelines.pipeline import finish

SPEED = "speed.json"
MOST = 500  # files of a stage: shards grow with the passages
NUMBERS = b"numbers"
Part = TypeVar("Part")


def shard_size(passages: int, least: int) -> int:
    """Return the passages of each shard: at least `least`, and more where there would be over 500 files."""
    return max(least, -(-passages // MOST))


def each_shard(
    folder: Path,
    parts: Iterable[Part],
    count: int,
    work: Callable[[Part, int, Progress], dict[str, Any]],
    progress: Progress,
) -> None:
    """Write a file NNNNN.parquet for each of `count` parts, and the total time, to the folder.

    work(part, shard number, progress) returns the contents of the shard's file; its key `questions` is a list. progress
    gets the share of the shards that is done, and the speed in its words. One part at a time is in memory.
    """
    speed = _Speed()
    for number, part in enumerate(parts):

        def report(words: str, share: float, number: int = number) -> None:
            progress(f"{words}, shard {number + 1} of {count}{speed}", (number + share) / count)

        def write(partial: Path, number: int = number, part: Part = part, report: Progress = report) -> None:
            began = time.perf_counter()
            contents = work(part, number, report)
            _write(partial, {"seconds": time.perf_counter() - began, **contents})

        finish(shard_path(folder, number), write)
        speed.add(read_shard(folder, number))
        report("done", 1.0)
    write_speed(folder, speed.questions, speed.seconds)


def shard_path(folder: Path, number: int) -> Path:
    """Return the file of a shard."""
    return folder / f"{number:05d}.parquet"


def read_shards(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the contents of all shards, in order."""
    numbers = sorted(int(path.stem) for path in folder.glob("[0-9]*.parquet"))
    return (read_shard(folder, number) for number in numbers)


def read_shard(folder: Path, number: int) -> dict[str, Any]:
    """Return the contents of this shard; arrays (n, k) as such."""
    table = pyarrow.parquet.read_table(shard_path(folder, number))
    contents: dict[str, Any] = json.loads(table.schema.metadata[NUMBERS])
    for name in table.column_names:
        inner = contents
        column = table.column(name)
        *outer, last = name.split(".")
        for key in outer:
            inner = inner.setdefault(key, {})
        inner[last] = _array(column) if pyarrow.types.is_fixed_size_list(column.type) else column.to_pylist()
    return contents


def _array(column: pyarrow.ChunkedArray) -> np.ndarray:
    return column.combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, column.type.list_size)


def _write(path: Path, contents: Mapping[str, Any]) -> None:
    """Write a shard's file: numbers as metadata, the rest as columns; a dictionary's are named KEY.NAME."""
    columns: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for name, value in contents.items():
        if isinstance(value, Mapping):
            columns |= {f"{name}.{key}": _column(inner) for key, inner in value.items()}
        elif isinstance(value, list | np.ndarray):
            columns[name] = _column(value)
        else:
            numbers[name] = value
    table = pyarrow.table(columns).replace_schema_metadata({NUMBERS: json.dumps(numbers)})
    pyarrow.parquet.write_table(table, path)


def _column(values: list[Any] | np.ndarray) -> pyarrow.Array:
    if isinstance(values, np.ndarray):
        return pyarrow.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
    return pyarrow.array(values)


def write_speed(folder: Path, questions: int, seconds: float) -> None:
    """Record in the folder how many questions were done in how many seconds."""
    (folder / SPEED).write_text(json.dumps({"done": questions, "seconds": seconds}), encoding="utf-8")


def read_speed(folder: Path) -> dict[str, float]:
    """Return what `write_speed` wrote; zeros if it wrote nothing."""
    path = folder / SPEED
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"done": 0, "seconds": 0.0}


@dataclass
class _Speed:
    """The questions of all shards so far and their time; as a string, the progress message's end."""

    questions: int = 0
    seconds: float = 0.0

    def add(self, shard: Mapping[str, Any]) -> None:
        """Count the shard."""
        self.questions += len(shard["questions"])
        self.seconds += shard["seconds"]

    def __str__(self) -> str:
        return f"; {self.questions:,} questions, {self.questions / self.seconds:,.1f} a second" if self.seconds else ""
