"""The vectors of a project's items: as the last round left them, else encoded once and kept.

Of texts that have been added since, only their own rows are made, and put behind the others (`extended_vectors`).
"""

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.files.arrays import DAMAGE, read_array
from allpairs.db.files.artifacts import held, publishing
from allpairs.db.files.atomic import atomic_write
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.files.checksums import Damaged, is_whole, seal
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.evaluation_snapshot import BASE, EvaluationSnapshot, blend_of, knows, take_snapshot
from allpairs.learner.jobs.data.extended_vectors import extended_by_encoder, extended_by_matcher
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.resumable_encoding import encoded
from allpairs.learner.jobs.data.stored_arrays import are_alike
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.reference import digests_of
from allpairs.learner.scoring.score import Blend, blended

FILE = "vectors.npy"
TEXTS = "texts.npy"  # digests of the texts
MAKING = ".encoding"  # folder beside the file, while all texts are encoded
MORE = ".encoding-more"  # the same, while added texts are encoded


def save_vectors(path: Path, vectors: np.ndarray, texts: Sequence[str]) -> None:
    """Write the vectors of these texts to the file atomically, and both checksums to its folder."""
    digests = path.parent / TEXTS
    with publishing(path), publishing(path.parent / CHECKSUMS), publishing(digests):
        _save(path, vectors)
        _save(digests, digests_of(texts))
        seal(path.parent, [path, digests])


def _save(path: Path, array: np.ndarray) -> None:
    with atomic_write(path) as part, part.open("wb") as file:
        np.save(file, array)


def are_of(path: Path, texts: Sequence[str]) -> bool:
    """Return whether the first stored vectors are those of the first of these texts; False if nothing says so.

    A job that began before texts were added knows fewer texts than the file, and one that began later may know more.
    """
    digests = path.parent / TEXTS
    try:
        with held(digests):
            return are_alike(read_array(digests), texts)
    except (FileNotFoundError, *DAMAGE, Damaged):  # the power may have failed before it was on the disk
        return False


def load_vectors(path: Path) -> np.ndarray:
    """Return the stored vectors (items, d), memory-mapped. Raises InputError if they are missing or damaged."""
    stored = _stored(path, mapped=True)
    if stored is None:
        raise InputError(f"{path} is damaged or missing: run the job again, which creates it anew")
    return stored


def _stored(path: Path, mapped: bool = False) -> np.ndarray | None:
    """Return the stored vectors (items, d), or None if they are missing or damaged.

    mapped: memory-map the file. Nobody may delete it meanwhile, so use it only for a job's own file.
    """
    try:
        with held(path.parent / CHECKSUMS), held(path):
            vectors = read_array(path, mapped) if is_whole(path) else None
    except (Damaged, *DAMAGE):
        return None
    return vectors if vectors is not None and vectors.ndim == 2 and vectors.dtype == np.float32 else None


def vectors_of(
    project_id: int, matcher: StoredModel | None, data: ProjectData, settings: Settings, progress: Progress
) -> np.ndarray:
    """Return the matcher's blended vectors (items, d); without a matcher, the pre-trained encoder's.

    The last round's vectors are stored already. Those of older rounds are encoded and kept until the next round.
    """
    if matcher is None:
        return pretrained_vectors(project_id, data, settings, progress)
    if matcher.folder:
        folder = artifacts() / matcher.folder
        blend = blend_of(matcher)
        path = folder.parent / FILE
        stored = _whole(
            path, data, lambda vectors: extended_by_matcher(folder, vectors, data, path.parent / MORE, progress)
        )
        return _encoded(path, lambda: load_encoder(str(folder)), data, blend, progress) if stored is None else stored
    measured = data.settings.model_copy(update={"encoder": matcher.encoder, "hubness": blend_of(matcher).hubness})
    return pretrained_vectors(project_id, data, measured, progress)


def snapshot_under(
    data: ProjectData, matcher: StoredModel, vectors: np.ndarray | None, progress: Progress
) -> EvaluationSnapshot:
    """Return the evaluation items under this matcher, as `take_snapshot`; of texts after it, only these are encoded."""
    if vectors is None and not knows(matcher, data):
        vectors = vectors_of(matcher.project_id, matcher, data, data.settings, progress)
    return take_snapshot(data, matcher, vectors, progress)


def pretrained_vectors(project_id: int, data: ProjectData, settings: Settings, progress: Progress) -> np.ndarray:
    """Return blended vectors (items, d) under these settings' encoder, which may differ from the project's."""
    name = sha256(f"{settings.encoder} {settings.hubness}".encode()).hexdigest()[:8]
    path = artifacts() / f"project-{project_id}" / f"{BASE}-{name}" / FILE
    load = partial(load_encoder, settings.encoder)
    more = partial(extended_by_encoder, load, settings.hubness, data=data, making=path.parent / MORE, progress=progress)
    stored = _whole(path, data, more)
    return _encoded(path, load, data, Blend(settings.hubness), progress) if stored is None else stored


def _whole(path: Path, data: ProjectData, extend: Callable[[np.ndarray], np.ndarray]) -> np.ndarray | None:
    """Return the stored vectors (items, d), with those of added texts, which are then stored; None if there are none.

    extend: makes the missing rows. A job that began before texts were added has no use for their rows.
    """
    stored = _stored(path) if are_of(path, data.dataset.texts) else None
    n = len(data.item_ids)
    if stored is None or len(stored) >= n:
        return stored if stored is None else stored[:n]
    more = extend(stored)
    save_vectors(path, more, data.dataset.texts)
    shutil.rmtree(path.parent / MORE, ignore_errors=True)
    return more


def _encoded(
    path: Path, load: Callable[[], Encoder], data: ProjectData, blend: Blend, progress: Progress
) -> np.ndarray:
    """Encode all items, store their vectors (items, d) and return them."""
    progress("load", 0.0)
    return encode_and_save(path, load(), data, blend, progress)


def encode_and_save(path: Path, encoder: Encoder, data: ProjectData, blend: Blend, progress: Progress) -> np.ndarray:
    """Encode the items, store the blended vectors (items, d) and return them. Resumes after a kill."""
    making = path.parent / MAKING
    vectors = blended(data.dataset, encoded(encoder, data.dataset.texts, making, progress), blend, progress=progress)
    save_vectors(path, vectors, data.dataset.texts)
    shutil.rmtree(making, ignore_errors=True)
    return vectors
