"""Damage to files."""

import os
from pathlib import Path


def harm(path: Path) -> None:
    """Flip one bit in the middle of the file, keeping its size."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    before = path.stat().st_mtime_ns
    path.write_bytes(content)
    os.utime(path, ns=(before, before + 1))  # the clock of files may not have ticked since it was read
