"""Files that are there as a whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """The path to write to: afterwards the file is there as a whole. Where writing fails all is as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = partial_path(path)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """A new name beside the path: a worker taken for dead may still be writing its own, and be process 1 as we are."""
    return path.with_name(f"{path.name}-{uuid4().hex}.tmp")
