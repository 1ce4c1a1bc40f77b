"""Files that are there as a whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def aside(path: Path) -> Iterator[Path]:
    """The path to write to: afterwards the file is there as a whole. Where writing fails all is as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.tmp")  # a worker taken for dead may still be writing its own
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
