"""The vectors where cells start: texts that a pre-trained encoder has encoded for one cell are read by the others."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from allpairs.db.files.atomic import atomic_write
from allpairs.db.progress import Progress
from allpairs.learner.models.encoder import Encoder

FOLDER = "starting_vectors"  # in the experiment's; removed when all cells are done


def starting_vectors(out: Path, encoder: Encoder, texts: Sequence[str], progress: Progress) -> np.ndarray:
    """Return the encoder's vectors of the texts, (n, d), float32: from a file in the experiment's folder, else new.

    The file's name is a digest of weights, pooling, distance, length and texts, so that another encoder's are not read.
    Cells that start at the same time both encode.
    """
    path = out / FOLDER / f"{_digest(encoder, texts)}.npy"
    try:
        return np.load(path)
    except (OSError, ValueError):
        vectors = encoder.encode(texts, progress)
    with atomic_write(path) as part, part.open("wb") as file:
        np.save(file, vectors)
    return vectors


def _digest(encoder: Encoder, texts: Sequence[str]) -> str:
    hasher = sha256(repr((encoder.distance, encoder.model.max_seq_length, encoder.model)).encode())
    for name, weight in encoder.model.state_dict().items():
        hasher.update(name.encode())
        hasher.update(weight.cpu().numpy().tobytes())
    for text in texts:
        hasher.update(f"{len(text)} {text}".encode())
    return hasher.hexdigest()[:32]
