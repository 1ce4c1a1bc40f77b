"""Rows of numbers of any length, stored on disk and read one by one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np


class RowsOnDisk:
    """Rows in the order in which they were added; only where each begins is in memory."""

    def __init__(self, path: Path, kind: type[np.generic]) -> None:
        self.path, self.kind = path, kind
        self.begins = [0]
        path.touch()

    def __len__(self) -> int:
        return len(self.begins) - 1

    def add(self, rows: Iterable[Sequence[int] | np.ndarray]) -> None:
        """Append the rows."""
        with self.path.open("ab") as file:
            for row in rows:
                file.write(np.asarray(row, dtype=self.kind).tobytes())
                self.begins.append(self.begins[-1] + len(row))

    def take(self, which: Iterable[int]) -> list[np.ndarray]:
        """Return these rows, each (length,)."""
        if not self.begins[-1]:
            return [np.empty(0, dtype=self.kind) for _ in which]
        flat = np.memmap(self.path, dtype=self.kind, mode="r")
        return [np.array(flat[self.begins[i] : self.begins[i + 1]]) for i in which]
