"""The evaluation items of a project as a model sees them, kept to be measured again when more labels have come."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from allpairs.db.files.artifacts import held, is_there, publishing
from allpairs.db.files.atomic import atomic_write
from allpairs.db.files.checksums import DAMAGE, Damaged
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import Matcher
from allpairs.learner.data.lexical_features import lexical_vectors
from allpairs.learner.evaluation.audit.ranking import Ranking, rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right, scores

BASE = "base"  # prefix of a pre-trained encoder's folder


@dataclass(frozen=True)
class Seen:
    """The items under one model: blended vectors (n, d), in the order of `rows_of`, and all pairs by score."""

    vectors: np.ndarray
    ranking: Ranking


def rows_of(data: ProjectData) -> np.ndarray:
    """Return the rows of all evaluation items, ascending."""
    return np.union1d(data.dataset.evaluation_left, data.dataset.evaluation_right)


def blend_of(matcher: Matcher) -> Blend:
    """Return the components of the matcher's score."""
    return Blend.read(matcher.details)


def has_model(matcher: Matcher) -> bool:
    """Return whether the matcher's folder exists; a pre-trained encoder needs none."""
    return matcher.folder is None or is_there(artifacts() / matcher.folder)


def encode_rows(data: ProjectData, encoder: Encoder, blend: Blend, progress: Progress) -> np.ndarray:
    """Return the blended vectors of all evaluation items, (n, d), in the order of `rows_of`."""
    dataset, rows = data.dataset, rows_of(data)
    if blend.needs_all:  # the score also depends on the other items' vectors and texts
        vectors = encoder.encode(dataset.texts, progress)
    else:
        vectors = np.zeros((len(dataset.texts), encoder.dimension), dtype=np.float32)
        vectors[rows] = encoder.encode([dataset.texts[row] for row in rows], progress)
    return blended(dataset, vectors, blend, progress=progress)[rows]


def lexical_of(data: ProjectData) -> np.ndarray:
    """Return the evaluation items' `lexical_vectors`, (n, d) float16 in the order of `rows_of`."""
    return lexical_vectors([data.dataset.texts[row] for row in rows_of(data)]).astype(np.float16)


def sides(data: ProjectData, vectors: np.ndarray, lexical: np.ndarray | None = None) -> Sides:
    """Return the two sides of all evaluation pairs.

    vectors: (n, d), blended, and lexical: (n, d) of `lexical_of`, both in the order of `rows_of`.
    """
    rows, dataset = rows_of(data), data.dataset
    left, right = (np.searchsorted(rows, side) for side in (dataset.evaluation_left, dataset.evaluation_right))
    return Sides(
        as_left(vectors[left], BLENDED), as_right(vectors[right], BLENDED),
        data.item_ids[rows[left]], data.item_ids[rows[right]], dataset.symmetric,
        None if lexical is None else (lexical[left], lexical[right]),
    )  # fmt: skip


def scores_of(data: ProjectData, vectors: np.ndarray, left_ids: np.ndarray, right_ids: np.ndarray) -> np.ndarray:
    """Return the score of each pair of items, (n,) float64. vectors: (k, d), blended, in the order of `rows_of`."""
    return scores(vectors, *_places(data, left_ids, right_ids), BLENDED).astype(np.float64)


def similarities_of(
    data: ProjectData, lexical: np.ndarray | None, left_ids: np.ndarray, right_ids: np.ndarray
) -> np.ndarray | None:
    """Return the lexical similarity of each pair of items, (n,) float32. lexical: as in `sides`."""
    left, right = _places(data, left_ids, right_ids)
    return None if lexical is None else np.einsum("nd,nd->n", lexical[left], lexical[right])


def _places(data: ProjectData, left_ids: np.ndarray, right_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the places of both items of each pair in the order of `rows_of`."""
    ids = data.item_ids[rows_of(data)]
    return np.searchsorted(ids, left_ids), np.searchsorted(ids, right_ids)


def look(data: ProjectData, matcher: Matcher, vectors: np.ndarray | None, progress: Progress) -> Seen:
    """Return the items under this matcher: stored, else from `vectors`, else encoded; stored afterwards.

    Vectors are stored in half precision, and even the first caller gets them as stored, so that every figure of a
    matcher rests on the same scores.
    """
    path = _path(matcher)
    try:
        stored = load_arrays(path, "")
    except Damaged:
        if vectors is None:
            encoder = load_encoder(str(artifacts() / matcher.folder) if matcher.folder else matcher.encoder)
            vectors = encode_rows(data, encoder, blend_of(matcher), progress)
        half = vectors.astype(np.float16)
        seen = sides(data, half.astype(np.float32))
        ranking = rank_all(seen.left, seen.right, seen.symmetric, progress)
        stored = {"vectors": half, "counts": ranking.counts}
        save_arrays(path, **stored)
    return Seen(stored["vectors"].astype(np.float32), Ranking(stored["counts"]))


def _path(matcher: Matcher) -> Path:
    """Return the snapshot's path, beside the matcher's model, so that both are deleted together."""
    if matcher.folder:
        return artifacts() / matcher.folder.removesuffix("/model") / "evaluation.npz"
    model = f"{matcher.encoder} {blend_of(matcher).hubness}"  # another base encoder or weight is another model
    name = sha256(model.encode()).hexdigest()[:8]
    return artifacts() / f"project-{matcher.project_id}" / f"{BASE}-{name}" / "evaluation.npz"


def save_arrays(path: Path, **arrays: np.ndarray) -> None:
    """Write the arrays to the file atomically."""
    with publishing(path), atomic_write(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def load_arrays(path: Path, remedy: str) -> Mapping[str, np.ndarray]:
    """Return the arrays of the file by name. Raises InputError with the remedy if it is missing or damaged."""
    try:
        with held(path), np.load(path) as stored:
            return dict(stored)
    except (FileNotFoundError, *DAMAGE):
        raise Damaged(f"{path} is damaged or missing: {remedy}") from None
