"""Full disks for tests."""

import errno
from pathlib import Path


def fill(disk: Path) -> Path:
    """Write a file that takes the disk's remaining space, and return it."""
    path = disk / "filler"
    with path.open("wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError as error:
                assert error.errno == errno.ENOSPC
                return path
