"""The vectors of a project's texts while they are made: in a file, where a job that was killed goes on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from db.files.atomic import atomic_write
from db.progress import Progress, no_progress, part_of
from learner.models.encoder import Encoder
from learner.runtime.array_file import new_array_file
from learner.runtime.protocol import Engine

FILE, DONE = "vectors.npy", "done.json"
SAME = 1e-3  # how far the first text's vector may be from the stored one; batches of other sizes round otherwise


@dataclass(frozen=True)
class Made:
    """The vectors that a folder has: an array (n, d) in a file of this number, of which so many rows are made."""

    vectors: np.memmap
    rows: int
    file: int


def encoded(
    encoder: Encoder, texts: Sequence[str], folder: Path, progress: Progress = no_progress, engine: Engine | None = None
) -> np.ndarray:
    """Vectors (texts, d), float32, in a file of the folder; what it has of the same texts already is not made again.

    The folder is these texts' own. What another encoder left there is made anew.
    """
    made = _begun(encoder, texts, folder)
    begin, n = made.rows, len(texts)
    hear = part_of(progress, begin / n, 1.0) if n else progress
    for part, some in encoder.encode_parts(texts[begin:], hear, engine):
        made.vectors[begin + part.start : begin + part.stop] = some
        made.vectors.flush()
        with atomic_write(folder / DONE) as note:
            note.write_text(json.dumps({"rows": begin + part.stop, "file": made.file}))
    return made.vectors


def _begun(encoder: Encoder, texts: Sequence[str], folder: Path) -> Made:
    """What the folder has of these vectors, none where they are not these."""
    shape, file = (len(texts), encoder.dimension), folder / FILE
    note = _note_of(folder)
    if note and file.exists():
        found, number = np.lib.format.open_memmap(file, "r+"), file.stat().st_ino
        same = found.shape == shape and note.get("file") == number
        if same and np.allclose(found[0], encoder.encode(texts[:1])[0], atol=SAME):
            return Made(found, int(note["rows"]), number)
    folder.mkdir(parents=True, exist_ok=True)
    # Another job may be writing here: it keeps its file, which has no name any more, and what it notes is of that.
    (folder / DONE).unlink(missing_ok=True)
    file.unlink(missing_ok=True)
    vectors = new_array_file(file, np.float32, shape)
    return Made(vectors, 0, file.stat().st_ino)


def _note_of(folder: Path) -> dict[str, int]:
    """What the folder's note says; nothing where there is none that can be read."""
    try:
        note: dict[str, int] = json.loads((folder / DONE).read_text())
    except (FileNotFoundError, ValueError):  # ValueError: the power failed before it was on the disk
        return {}
    return note
