"""The vectors of a project's texts while they are made: in a file, where a job that was killed goes on."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from db.aside import aside
from db.domain import Progress, no_progress, part_of
from learner.encoder import Encoder
from learner.engine.engine import Engine

FILE, DONE = "vectors.npy", "done.json"
SAME = 1e-3  # how far the first text's vector may be from the stored one; batches of other sizes round otherwise


@dataclass(frozen=True)
class Made:
    """The vectors that a folder has: an array (n, d) in a file, of which so many rows are made."""

    vectors: np.memmap
    rows: int


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
        _note(folder, begin + part.stop)
    return made.vectors


def _begun(encoder: Encoder, texts: Sequence[str], folder: Path) -> Made:
    """What the folder has of these vectors, none where they are not these."""
    shape, file = (len(texts), encoder.dimension), folder / FILE
    if (folder / DONE).exists() and file.exists():
        found = np.lib.format.open_memmap(file, "r+")
        rows = int(json.loads((folder / DONE).read_text())["rows"])
        if found.shape == shape and rows and np.allclose(found[0], encoder.encode(texts[:1])[0], atol=SAME):
            return Made(found, rows)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DONE).unlink(missing_ok=True)
    return Made(np.lib.format.open_memmap(file, "w+", np.float32, shape), 0)


def _note(folder: Path, rows: int) -> None:
    with aside(folder / DONE) as part:
        part.write_text(json.dumps({"rows": rows}))
