"""Files of arrays by name (.npz), read so that a small file cannot fill the memory."""

import zlib
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

# Raised for a damaged file: by zipfile, by its checksums (CRC), by NumPy, and by what reads the arrays.
DAMAGE = (BadZipFile, EOFError, KeyError, ValueError, TypeError, OverflowError, RecursionError, zlib.error)
MOST_PACKED = 50  # times its size that a file may unpack to
ALWAYS = 16_000_000  # bytes that any file may unpack to
MOST_HEADER = 10_000  # bytes


def read_arrays(path: Path, names: Sequence[str] = ()) -> dict[str, np.ndarray]:
    """Return the arrays of the file, or those of these names.

    Raises one of DAMAGE for a file that is damaged, lacks a name or unpacks to far more than its size.
    """
    with ZipFile(path) as bundle:
        members = [f"{name}.npy" for name in names] or bundle.namelist()
        size = sum(bundle.getinfo(member).file_size for member in members)
        if size > max(ALWAYS, MOST_PACKED * path.stat().st_size):
            raise ValueError(f"it would unpack to {size:,} bytes")
        return {member.removesuffix(".npy"): _array(bundle, member) for member in members}


def read_array(path: Path, mapped: bool = False) -> np.ndarray:
    """Return the array of a file that has one (.npy), memory-mapped if asked for.

    Raises one of DAMAGE for a file that is damaged, or shorter than its header claims: memory is taken afterwards.
    """
    array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    return array if mapped else np.array(array)


def _array(bundle: ZipFile, member: str) -> np.ndarray:
    """Return the array. Its header must claim the bytes that there are: NumPy takes the memory before it reads."""
    with bundle.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = read(file, MOST_HEADER)
        claimed = np.prod(shape, dtype=object) * kind.itemsize
        stored = bundle.getinfo(member).file_size - file.tell()
    if claimed != stored or kind.hasobject:
        raise ValueError(f"{member} claims {claimed:,} bytes of {kind}, and has {stored:,}")
    with bundle.open(member) as file:
        return np.asarray(np.lib.format.read_array(file, allow_pickle=False))


def require_array(array: np.ndarray, kind: str, shape: Sequence[int | None], lowest: bool = False) -> np.ndarray:
    """Return the array if it is of this type and shape, where None is any length, and of finite numbers.

    lowest: minus infinity counts as one. Raises ValueError otherwise.
    """
    fits = array.ndim == len(shape) and all(map(lambda most, n: most in (None, n), shape, array.shape))
    if array.dtype != np.dtype(kind) or not fits:
        raise ValueError(f"an array is {array.dtype} {array.shape}, not {kind} {tuple(shape)}")
    if not (np.isfinite(array) | (np.isneginf(array) if lowest else False)).all():
        raise ValueError("an array holds what is no number")
    return array
