"""The evaluation items of a project as a model sees them, kept to be measured again when more labels have come."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from allpairs.db.files.artifacts import children, is_there
from allpairs.db.files.checksums import Damaged
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.data.lexical_features import lexical_vectors
from allpairs.learner.evaluation.audit.ranking import Ranking, rank_all
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.jobs.data.stored_rescored import NAMES, as_arrays, from_arrays, rescored_of, second_of
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.scoring.reference import digests_of
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right, scores
from allpairs.learner.search.rescored import NOTHING, Rescored

BASE = "base"  # prefix of a pre-trained encoder's folder
NAME = "evaluation"  # begins the name of a snapshot


@dataclass(frozen=True)
class EvaluationSnapshot:
    """The items under one model: blended vectors (n, d), in the order of `rows_of`, and all pairs by score.

    rescored: the pairs of places in that order which a second stage has scored again.
    """

    vectors: np.ndarray
    ranking: Ranking
    rescored: Rescored = NOTHING


def rows_of(data: ProjectData) -> np.ndarray:
    """Return the rows of all evaluation items, ascending."""
    return np.union1d(data.dataset.evaluation_left, data.dataset.evaluation_right)


def blend_of(matcher: StoredModel) -> Blend:
    """Return the components of the matcher's score."""
    return Blend.read(matcher.details)


def has_model(matcher: StoredModel) -> bool:
    """Return whether the matcher's folder exists; a pre-trained encoder needs none."""
    return matcher.folder is None or is_there(artifacts() / matcher.folder)


def knows(matcher: StoredModel, data: ProjectData) -> bool:
    """Return whether the matcher was made when all of these evaluation texts were in the project."""
    version = matcher.details.get("texts", 0)
    return data.added_in is None or bool((data.added_in[rows_of(data)] <= version).all())


def encode_needed(data: ProjectData, encoder: Encoder, blend: Blend, all_items: bool, progress: Progress) -> np.ndarray:
    """Return the blended vectors of all items, (items, d).

    all_items: items that are not for evaluation too; without, theirs are 0 where the others' scores do not need them.
    """
    dataset = data.dataset
    rows = rows_of(data)
    if all_items or blend.needs_all:
        vectors = encoder.encode(dataset.texts, progress)
    else:
        vectors = np.zeros((len(dataset.texts), encoder.dimension), dtype=np.float32)
        vectors[rows] = encoder.encode([dataset.texts[row] for row in rows], progress)
    return blended(dataset, vectors, blend, progress=progress)


def lexical_of(data: ProjectData) -> np.ndarray:
    """Return the evaluation items' `lexical_vectors`, (n, d) float16 in the order of `rows_of`."""
    return lexical_vectors([data.dataset.texts[row] for row in rows_of(data)]).astype(np.float16)


def sides(
    data: ProjectData, vectors: np.ndarray, lexical: np.ndarray | None = None, rescored: Rescored = NOTHING
) -> Sides:
    """Return the two sides of all evaluation pairs.

    vectors: (n, d), blended, and lexical: (n, d) of `lexical_of`, both in the order of `rows_of`; rescored: by places
    in that order.
    """
    rows = rows_of(data)
    dataset = data.dataset
    left, right = (np.searchsorted(rows, side) for side in (dataset.evaluation_left, dataset.evaluation_right))
    return Sides(
        as_left(vectors[left], BLENDED),
        as_right(vectors[right], BLENDED),
        data.item_ids[rows[left]],
        data.item_ids[rows[right]],
        dataset.symmetric,
        None if lexical is None else (lexical[left], lexical[right]),
        rescored=rescored.within(left, right),
    )


def item_pair_scores(
    data: ProjectData, vectors: np.ndarray, left_ids: np.ndarray, right_ids: np.ndarray, rescored: Rescored = NOTHING
) -> np.ndarray:
    """Return the score of each pair of items, (n,) float64. vectors, rescored: as in `sides`."""
    left, right = _places(data, left_ids, right_ids)
    return rescored.replace(left, right, scores(vectors, left, right, BLENDED)).astype(np.float64)


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


def take_snapshot(
    data: ProjectData, matcher: StoredModel, vectors: np.ndarray | None, progress: Progress
) -> EvaluationSnapshot:
    """Return the evaluation items under this matcher: stored, else from `vectors` (items, d), else encoded.

    They are stored then, by population: after a change of texts, those of before are taken from what is stored, if it
    has all that are left. Vectors are stored in half precision, and even the first caller gets them as stored, so that
    every figure of a matcher rests on the same scores.
    """
    path = _folder(matcher) / f"{NAME}{population(data)}.npz"
    stored = _read(path, data)
    if stored is None and vectors is None:
        stored = _part_of_stored(matcher, data, progress)
    if stored is None:
        if vectors is None:
            encoder = load_encoder(str(artifacts() / matcher.folder) if matcher.folder else matcher.encoder)
            vectors = encode_needed(data, encoder, blend_of(matcher), second_of(matcher) is not None, progress)
        rows = rows_of(data)
        rescored = rescored_of(matcher, data, vectors, progress).within(rows, rows)
        stored = _ranked(data, vectors[rows].astype(np.float16), rescored, progress)
        save_arrays(path, **stored)
    return EvaluationSnapshot(
        stored["vectors"].astype(np.float32), Ranking(stored["counts"]), from_arrays(stored, len(data.item_ids))
    )


def _ranked(data: ProjectData, half: np.ndarray, rescored: Rescored, progress: Progress) -> dict[str, np.ndarray]:
    """Return what is stored; half: (n, d) float16 and rescored: as in `EvaluationSnapshot`."""
    pair_sides = sides(data, half.astype(np.float32), rescored=rescored)
    ranking = rank_all(pair_sides.left, pair_sides.right, pair_sides.symmetric, progress, rescored=pair_sides.rescored)
    rows = rows_of(data)
    identity = {"rows": rows, "texts": _digests(data, rows)}
    return {"vectors": half, "counts": ranking.counts} | identity | as_arrays(rescored)


def _digests(data: ProjectData, rows: np.ndarray) -> np.ndarray:
    return digests_of([data.dataset.texts[row] for row in rows.tolist()])


def _read(path: Path, data: ProjectData) -> Mapping[str, np.ndarray] | None:
    """Return what is stored in the file; None if it is missing, damaged, or of other texts with the same rows."""
    try:
        stored = load_arrays(path, "", ("vectors", "counts", "rows", "texts", *NAMES))
    except Damaged:
        return None
    if not len(stored["vectors"]) == len(stored["rows"]) == len(stored["texts"]):
        return None
    rows = np.intersect1d(stored["rows"], rows_of(data))
    known = stored["texts"][np.searchsorted(stored["rows"], rows)]
    return stored if np.array_equal(known, _digests(data, rows)) else None


def _part_of_stored(matcher: StoredModel, data: ProjectData, progress: Progress) -> dict[str, np.ndarray] | None:
    """Return what is stored of a population of which this one is a part, for this one, and store it; None without."""
    folder = _folder(matcher)
    rows = rows_of(data)
    for name in sorted(children(folder)):
        stored = _read(folder / name, data) if name.startswith(NAME) and name.endswith(".npz") else None
        if stored is None:
            continue
        if np.isin(rows, stored["rows"]).all():
            places = np.searchsorted(stored["rows"], rows)
            rescored = from_arrays(stored, len(data.item_ids)).within(places, places)
            part = _ranked(data, stored["vectors"][places], rescored, progress)
            save_arrays(folder / f"{NAME}{population(data)}.npz", **part)
            return part
    return None


def population(data: ProjectData) -> str:
    """Return what ends the name of a file about these evaluation texts: empty for those of the project's first files.

    Rows never move, so equal rows are the same texts, in a copy from an archive, too. After a restore they may be
    others, which the file tells by their digests.
    """
    rows = rows_of(data)
    if np.array_equal(rows, data.measuring_by(0)):
        return ""
    return f"-{sha256(rows.astype('<i8').tobytes()).hexdigest()[:12]}"


def _folder(matcher: StoredModel) -> Path:
    """Return the snapshots' folder, beside the matcher's model, so that both are deleted together."""
    if matcher.folder:
        return artifacts() / matcher.folder.removesuffix("/model")
    model = f"{matcher.encoder} {blend_of(matcher).hubness}"  # another base encoder or weight is another model
    name = sha256(model.encode()).hexdigest()[:8]
    return artifacts() / f"project-{matcher.project_id}" / f"{BASE}-{name}"
