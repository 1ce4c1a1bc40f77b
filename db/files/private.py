"""New files are closed to other users of the machine, whatever the umask. Windows has no such modes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

# modes: of what is stored, and what other users may do
FOLDER = 0o700
FILE = 0o600
OTHER_USERS = 0o077


@contextmanager
def private_files() -> Iterator[None]:
    """Close to other users what this process, and processes that it starts, write within the block."""
    before = os.umask(OTHER_USERS)
    try:
        yield
    finally:
        os.umask(before)


def open_private(path: str, flags: int) -> int:
    """Open the file; a new one is closed to other users. This is an `opener` for `open`."""
    return os.open(path, flags, FILE)
