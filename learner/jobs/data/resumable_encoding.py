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
DONE = "done.json"
SAME = 1e-3  # largest distance of the first text's vector to the stored one; rounding depends on the batch size


@dataclass(frozen=True)
class Made:
    """The vectors in a folder: an array (n, d), its count of encoded rows, and what its note says of the file.

    about: the inode number of the file, and the digest of the texts.
    """

    vectors: np.memmap
    rows: int
    about: dict[str, int | str]


def encoded(
    encoder: Encoder, texts: Sequence[str], folder: Path, progress: Progress = no_progress, engine: Engine | None = None
) -> np.ndarray:
    """Return vectors (texts, d), float32, in a file of the folder; rows that are already there are not encoded again.

    Vectors left of other texts or by another encoder are discarded.
    """
    made = _begun(encoder, texts, folder)
    begin = made.rows
    n = len(texts)
    hear = part_of(progress, begin / n, 1.0) if n else progress
    for part, some in encoder.encode_parts(texts[begin:], hear, engine):
        made.vectors[begin + part.start : begin + part.stop] = some
        made.vectors.flush()
        with atomic_write(folder / DONE) as note:
            note.write_text(json.dumps(made.about | {"rows": begin + part.stop}), encoding="utf-8")
    return made.vectors


def _begun(encoder: Encoder, texts: Sequence[str], folder: Path) -> Made:
    """Return the folder's vectors so far; an empty array if they are of other texts or another encoder."""
    shape = (len(texts), encoder.dimension)
    file = folder / FILE
    note = _note_of(folder)
    digest = sha256(digests_of(texts).tobytes()).hexdigest()
    if note and file.exists():
        stored = np.lib.format.open_memmap(file, "r+")
        about = _about(file, digest)
        same = stored.shape == shape and about.items() <= note.items()
        if same and np.allclose(stored[0], encoder.encode(texts[:1])[0], atol=SAME):
            return Made(stored, int(note["rows"]), about)
    folder.mkdir(parents=True, exist_ok=True)
    # Another job may be writing here: it keeps its own, now unlinked file, and its notes name that file's number.
    (folder / DONE).unlink(missing_ok=True)
    file.unlink(missing_ok=True)
    vectors = new_array_file(file, np.float32, shape)
    return Made(vectors, 0, _about(file, digest))


def _about(file: Path, digest: str) -> dict[str, int | str]:
    return {"file": file.stat().st_ino, "texts": digest}


def _note_of(folder: Path) -> dict[str, int | str]:
    """Return the contents of the folder's note; empty if it is missing or unreadable."""
    try:
        note: dict[str, int | str] = json.loads((folder / DONE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):  # ValueError: power failed before the note reached the disk
        return {}
    return note
