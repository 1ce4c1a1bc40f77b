"""Atomic writes: a file is either complete or absent."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a path to write to, and move it into place at the end; if writing fails, nothing has changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = partial_path(path)
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def partial_path(path: Path) -> Path:
    """Return a new name beside the path: a worker taken for dead may still be writing its own, also as process 1."""
    return path.with_name(f"{path.name}-{uuid4().hex}.tmp")
