"""The vectors of a project's items: as the last round left them, else encoded once and kept."""

import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held, publishing
from allpairs.db.files.atomic import atomic_write
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.files.checksums import Damaged, is_whole, seal
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import Matcher
from allpairs.learner.jobs.data.evaluation_snapshot import BASE, blend_of
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.resumable_encoding import encoded
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.score import Blend, blended

FILE = "vectors.npy"
MAKING = ".encoding"  # a folder beside the file, while encoding


def save_vectors(path: Path, vectors: np.ndarray) -> None:
    """Write the vectors to the file atomically, and their checksum to its folder."""
    with publishing(path), publishing(path.parent / CHECKSUMS):
        with atomic_write(path) as part, part.open("wb") as file:
            np.save(file, vectors)
        seal(path.parent, [path])


def load_vectors(path: Path) -> np.ndarray:
    """Return the stored vectors (items, d), memory-mapped. Raises InputError if they are missing or damaged."""
    stored = _stored(path, "r")
    if stored is None:
        raise InputError(f"{path} is damaged or missing: run the job again, which creates it anew")
    return stored


def _stored(path: Path, mapped: Literal["r"] | None = None) -> np.ndarray | None:
    """Return the stored vectors (items, d), or None if they are missing or damaged.

    mapped: memory-map the file. Nobody may delete it meanwhile, so use it only for a job's own file.
    """
    try:
        with held(path.parent / CHECKSUMS), held(path):
            return np.load(path, mmap_mode=mapped) if is_whole(path) else None
    except Damaged:
        return None


def vectors_of(
    project_id: int, matcher: Matcher | None, data: ProjectData, settings: Settings, progress: Progress
) -> np.ndarray:
    """Return the matcher's blended vectors (items, d); without a matcher, the pre-trained encoder's.

    The last round's vectors are stored already. Those of older rounds are encoded and kept until the next round.
    """
    if matcher is None:
        return pretrained_vectors(project_id, data, settings, progress)
    if matcher.folder:
        folder = artifacts() / matcher.folder
        blend = blend_of(matcher)
        return _stored_or_encoded(folder.parent / FILE, lambda: load_encoder(str(folder)), data, blend, progress)
    measured = data.settings.model_copy(update={"encoder": matcher.encoder, "hubness": blend_of(matcher).hubness})
    return pretrained_vectors(project_id, data, measured, progress)


def pretrained_vectors(project_id: int, data: ProjectData, settings: Settings, progress: Progress) -> np.ndarray:
    """Return blended vectors (items, d) under these settings' encoder, which may differ from the project's."""
    name = sha256(f"{settings.encoder} {settings.hubness}".encode()).hexdigest()[:8]
    path = artifacts() / f"project-{project_id}" / f"{BASE}-{name}" / FILE
    return _stored_or_encoded(path, lambda: load_encoder(settings.encoder), data, Blend(settings.hubness), progress)


def _stored_or_encoded(
    path: Path, load: Callable[[], Encoder], data: ProjectData, blend: Blend, progress: Progress
) -> np.ndarray:
    """Return the stored vectors (items, d); encode and store them if they are missing or damaged."""
    stored = _stored(path)
    if stored is not None:
        return stored
    progress("load", 0.0)
    return encode_and_save(path, load(), data, blend, progress)


def encode_and_save(path: Path, encoder: Encoder, data: ProjectData, blend: Blend, progress: Progress) -> np.ndarray:
    """Encode the items, store the blended vectors (items, d) and return them. Resumes after a kill."""
    making = path.parent / MAKING
    vectors = blended(data.dataset, encoded(encoder, data.dataset.texts, making, progress), blend, progress=progress)
    save_vectors(path, vectors)
    shutil.rmtree(making, ignore_errors=True)
    return vectors
