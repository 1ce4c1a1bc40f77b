"""Arrays in files: their disk space is allocated when they are made."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest

from allpairs.db.maintenance.error_messages import in_words
from allpairs.learner.runtime.array_file import new_array_file


def test_the_room_is_taken_at_once(tmp_path: Path) -> None:
    array = new_array_file(tmp_path / "a.npy", np.float32, (1_000, 300))
    assert not array.any()
    assert (tmp_path / "a.npy").stat().st_blocks * 512 >= array.nbytes
    array[999] = 1
    array.flush()
    assert np.load(tmp_path / "a.npy")[999].sum() == 300


def test_a_full_disk_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*given: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left") as raised:
        new_array_file(tmp_path / "a.npy", np.float32, (10, 3))
    said = str(in_words(raised.value))
    assert said.startswith("The disk is full") and str(tmp_path) in said
    assert not list(tmp_path.iterdir())
