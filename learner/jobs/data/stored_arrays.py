"""Arrays by name in one file, in the artifact folder or the object store."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from allpairs.db.files.arrays import DAMAGE, read_arrays
from allpairs.db.files.artifacts import held, publishing
from allpairs.db.files.atomic import atomic_write
from allpairs.db.files.checksums import Damaged
from allpairs.learner.scoring.reference import digests_of


def save_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write the arrays to the file atomically."""
    with publishing(path), atomic_write(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


class _Stored(dict[str, np.ndarray]):
    """The arrays of a file, which may lack one: it may have come in an archive."""

    def __init__(self, arrays: Mapping[str, np.ndarray], path: Path, remedy: str) -> None:
        super().__init__(arrays)
        self.path = path
        self.remedy = remedy

    def __missing__(self, name: str) -> np.ndarray:
        raise Damaged(f"{self.path} has no {name}: {self.remedy}")


def load_arrays(path: Path, remedy: str, names: Sequence[str] = ()) -> Mapping[str, np.ndarray]:
    """Return the arrays of the file by name, or those of these names.

    Raises Damaged with the remedy if the file is missing or damaged, or lacks a name.
    """
    try:
        with held(path):
            return _Stored(read_arrays(path, names), path, remedy)
    except (FileNotFoundError, *DAMAGE):
        raise Damaged(f"{path} is damaged or missing: {remedy}") from None


def are_alike(digests: np.ndarray, texts: Sequence[str]) -> bool:
    """Return whether the first texts, as many as there are of both, have these `digests_of` texts."""
    count = min(len(digests), len(texts))
    return np.array_equal(digests[:count], digests_of(texts[:count]))
