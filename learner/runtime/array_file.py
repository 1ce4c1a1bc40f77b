"""Arrays in files of their own, written a part at a time."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike


def new_array_file(path: Path, dtype: DTypeLike, shape: tuple[int, ...]) -> np.memmap:
    """Create a new .npy file with an array of zeros of this shape, and reserve its disk space.

    Raises OSError if the disk has too little space; otherwise writing to the array would kill the process.
    """
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):  # macOS has no such function
        try:
            with path.open("r+b") as file:
                os.posix_fallocate(file.fileno(), 0, path.stat().st_size)
        except OSError as error:
            path.unlink()
            raise OSError(error.errno, error.strerror, str(path)) from error
    return array
