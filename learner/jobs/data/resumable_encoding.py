"""Encode a project's texts into a file, so that a killed job can resume."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from allpairs.db.files.atomic import atomic_write
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.models.encoder import Encoder
from allpairs.learner.runtime.array_file import new_array_file
from allpairs.learner.runtime.protocol import Engine
from allpairs.learner.scoring.reference import digests_of

FILE = "vectors.npy"
NOTE = "done.json"
SAME = 1e-3  # largest distance of the first text's vector to the stored one; rounding depends on the batch size


@dataclass(frozen=True)
class EncodedFile:
    """The vectors in a folder: an array (n, d), its count of encoded rows, and what its note says of the file.

    identity: the inode number of the file, and the digest of the texts.
    """

    vectors: np.memmap
    rows: int
    identity: dict[str, int | str]


def encoded(
    encoder: Encoder, texts: Sequence[str], folder: Path, progress: Progress = no_progress, engine: Engine | None = None
) -> np.ndarray:
    """Return vectors (texts, d), float32, in a file of the folder; rows that are already there are not encoded again.

    Vectors left of other texts or by another encoder are discarded.
    """
    file = _encoded_so_far(encoder, texts, folder)
    begin = file.rows
    n = len(texts)
    report = part_of(progress, begin / n, 1.0) if n else progress
    for part, vectors in encoder.encode_parts(texts[begin:], report, engine):
        file.vectors[begin + part.start : begin + part.stop] = vectors
        file.vectors.flush()
        with atomic_write(folder / NOTE) as note:
            note.write_text(json.dumps(file.identity | {"rows": begin + part.stop}), encoding="utf-8")
    return file.vectors


def _encoded_so_far(encoder: Encoder, texts: Sequence[str], folder: Path) -> EncodedFile:
    """Return the folder's vectors so far; an empty array if they are of other texts or another encoder."""
    shape = (len(texts), encoder.dimension)
    file = folder / FILE
    note = _note_of(folder)
    digest = sha256(digests_of(texts).tobytes()).hexdigest()
    if note and file.exists():
        stored = np.lib.format.open_memmap(file, "r+")
        identity = _identity(file, digest)
        same = stored.shape == shape and identity.items() <= note.items()
        if same and np.allclose(stored[0], encoder.encode(texts[:1])[0], atol=SAME):
            return EncodedFile(stored, int(note["rows"]), identity)
    folder.mkdir(parents=True, exist_ok=True)
    # Another job may be writing here: it keeps its own, now unlinked file, and its notes name that file's number.
    (folder / NOTE).unlink(missing_ok=True)
    file.unlink(missing_ok=True)
    vectors = new_array_file(file, np.float32, shape)
    return EncodedFile(vectors, 0, _identity(file, digest))


def _identity(file: Path, digest: str) -> dict[str, int | str]:
    return {"file": file.stat().st_ino, "texts": digest}


def _note_of(folder: Path) -> dict[str, int | str]:
    """Return the contents of the folder's note; empty if it is missing or unreadable."""
    try:
        note: dict[str, int | str] = json.loads((folder / NOTE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # ValueError: power failed before the note reached the disk
        return {}
    return note
