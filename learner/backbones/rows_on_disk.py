"""Rows of numbers of any length, stored on disk and read one by one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np


class RowsOnDisk:
    """Rows in the order in which they were added; where each begins is in a second file, so memory does not grow."""

    def __init__(self, path: Path, kind: type[np.generic]) -> None:
        self.path = path
        self.kind = kind
        self.begins = path.with_name(f"{path.name}-begins")
        self.count = 0
        self.end = 0
        path.touch()
        np.zeros(1, dtype=np.int64).tofile(self.begins)

    def __len__(self) -> int:
        return self.count

    def add(self, rows: Sequence[Sequence[int] | np.ndarray] | np.ndarray) -> None:
        """Append the rows."""
        with self.path.open("ab") as file, self.begins.open("ab") as begins:
            for row in rows:
                file.write(np.asarray(row, dtype=self.kind).tobytes())
            ends = self.end + np.cumsum([len(row) for row in rows], dtype=np.int64)
            begins.write(ends.tobytes())
        self.count += len(rows)
        self.end = int(ends[-1]) if len(rows) else self.end

    def lengths(self) -> np.ndarray:
        """Return the length of each row, (n,) int64."""
        return np.diff(np.fromfile(self.begins, dtype=np.int64))

    def take(self, numbers: Sequence[int] | np.ndarray) -> list[np.ndarray]:
        """Return these rows, each (length,)."""
        rows = np.asarray(numbers, dtype=np.int64)
        begins = np.memmap(self.begins, dtype=np.int64, mode="r")
        spans = np.stack([begins[rows], begins[rows + 1]], axis=1).tolist()
        if not self.end:  # an empty file cannot be mapped
            return [np.empty(0, dtype=self.kind) for _ in spans]
        flat = np.asarray(np.memmap(self.path, dtype=self.kind, mode="r"))  # a plain array is sliced faster
        return [flat[begin:end].copy() for begin, end in spans]
