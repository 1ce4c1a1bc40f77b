"""The vectors of a project's items: those that the last round left, else encoded once and kept."""

import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np

from db.domain import Progress, Settings
from db.engine import artifacts
from db.models import Matcher
from learner.crowd import with_crowd
from learner.encoder import Encoder, load_encoder
from learner.jobs.evaluation_items import BASE, crowding_of
from learner.jobs.rows import ProjectData

FILE = "vectors.npy"


def save_vectors(path: Path, vectors: np.ndarray) -> None:
    """Nothing; the vectors lie in the file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_suffix(f".{os.getpid()}.tmp")  # a worker taken for dead may still be writing its own
    with aside.open("wb") as file:
        np.save(file, vectors)
    aside.replace(path)


def newest_vectors(
    project_id: int, matcher: Matcher | None, data: ProjectData, settings: Settings, progress: Progress
) -> np.ndarray:
    """(items, d) with their crowd under the newest matcher; where there is none, the pre-trained encoder's."""
    if matcher is None:
        return pretrained_vectors(project_id, data, settings, progress)
    if matcher.folder:
        folder = artifacts() / matcher.folder
        weight = crowding_of(matcher)
        return _stored_or_encoded(folder.parent / FILE, lambda: load_encoder(str(folder)), data, weight, progress)
    left = _left_by_untrained_rounds(project_id)
    if left is not None:
        return left
    measured = data.settings.model_copy(update={"encoder": matcher.encoder, "crowding": crowding_of(matcher)})
    return pretrained_vectors(project_id, data, measured, progress)


def pretrained_vectors(project_id: int, data: ProjectData, settings: Settings, progress: Progress) -> np.ndarray:
    """(items, d) with their crowd under the pre-trained encoder of these settings, which need not be the project's."""
    name = sha256(f"{settings.encoder} {settings.crowding}".encode()).hexdigest()[:8]
    path = artifacts() / f"project-{project_id}" / f"{BASE}-{name}" / FILE
    return _stored_or_encoded(path, lambda: load_encoder(settings.encoder), data, settings.crowding, progress)


def _left_by_untrained_rounds(project_id: int) -> np.ndarray | None:
    """The newest vectors of a round that trained nothing."""
    rounds = [path for path in (artifacts() / f"project-{project_id}").glob(f"next_round-*/{FILE}")
              if not (path.parent / "model").exists()]  # fmt: skip
    return np.load(max(rounds, key=lambda path: path.stat().st_mtime)) if rounds else None


def _stored_or_encoded(
    path: Path, load: Callable[[], Encoder], data: ProjectData, crowding: float, progress: Progress
) -> np.ndarray:
    try:
        stored: np.ndarray = np.load(path)
    except FileNotFoundError:
        progress("load", 0.0)
        vectors = load().encode(data.dataset.texts, progress)
        stored = with_crowd(data.dataset, vectors, crowding, progress=progress)
        save_vectors(path, stored)
    return stored
