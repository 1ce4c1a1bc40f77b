"""Files of arrays: what they claim is compared with what they have before any memory is taken."""

import io
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pytest

from allpairs.db.files.arrays import DAMAGE, read_array, read_arrays

WHOLE = {"left": np.arange(5), "score": np.ones((2, 3), dtype=np.float32, order="F"), "none": np.empty((0, 4))}


def claiming(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(80)


def packed(content: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with ZipFile(path, "w", ZIP_DEFLATED) as bundle:
            bundle.writestr("left.npy", content)

    return write


BAD: dict[str, Callable[[Path], object]] = {
    "much behind little": lambda path: np.savez_compressed(path, left=np.zeros(10**7)),
    "more than there is": packed(claiming((10**12,))),
    "more than there is, in two numbers": packed(claiming((10**9, 10**9))),
    "less than there is": packed(claiming((1,))),
    "negative lengths": packed(claiming((-2, -5))),
    "objects": packed(claiming((10,), "|O")),
    "no array": packed(b"text"),
    "no file of arrays": lambda path: path.write_bytes(b"text"),
    "other arrays": lambda path: np.savez(path, right=np.zeros(3)),
}


@pytest.mark.parametrize("what", BAD)
def test_a_file_of_arrays_that_nobody_saved_is_damaged(tmp_path: Path, what: str) -> None:
    BAD[what](tmp_path / "a.npz")
    tracemalloc.start()
    with pytest.raises(DAMAGE):
        read_arrays(tmp_path / "a.npz", ["left"])
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", **WHOLE)
    for name, array in read_arrays(tmp_path / "a.npz").items():
        assert array.dtype == WHOLE[name].dtype and np.array_equal(array, WHOLE[name])
    assert list(read_arrays(tmp_path / "a.npz", ["score"])) == ["score"]


def test_an_array_is_no_longer_than_its_file(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", WHOLE["score"])
    for mapped in (False, True):
        assert np.array_equal(read_array(tmp_path / "a.npy", mapped), WHOLE["score"])
    for content in (claiming((10**12,)), claiming((3,), "|O"), b"text", b""):
        (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(DAMAGE):
            read_array(tmp_path / "a.npy")
