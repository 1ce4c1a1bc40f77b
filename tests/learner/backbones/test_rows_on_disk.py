"""Rows on disk: read back as they were added, in memory that does not grow with them."""

import tracemalloc
from pathlib import Path

import numpy as np

from allpairs.learner.backbones.rows_on_disk import RowsOnDisk


def test_rows_come_back_and_none_is_kept(tmp_path: Path) -> None:
    rows = RowsOnDisk(tmp_path / "rows", np.float32)
    assert len(rows) == 0 and rows.lengths().tolist() == []
    rows.add([[], [1, 2, 3]])
    rows.add(np.array([[4.5, 5], [6, 7]]))
    assert len(rows) == 4 and rows.lengths().tolist() == [0, 3, 2, 2]
    assert [row.tolist() for row in rows.take([2, 1, 0, 2])] == [[4.5, 5], [1, 2, 3], [], [4.5, 5]]
    tracemalloc.start()
    for _ in range(100):
        rows.add(np.ones((100, 3)))
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(rows) == 10_004 and kept < 10_004
