"""The pairs that a round's second stage has scored again: as the round left them, else computed once more."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from allpairs.db.files.checksums import Damaged
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.extended_rescored import extended_rescored
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_arrays import are_alike, load_arrays, save_arrays
from allpairs.learner.scoring.matcher import SECOND_STAGE, load_matcher
from allpairs.learner.scoring.reference import digests_of
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.second_stage.rescore import best_dataset_pairs, features_of, rescore
from allpairs.learner.second_stage.second_stage import SecondStage

FILE = "rescored.npz"  # beside the vectors
NAMES = ("rescored_left", "rescored_right", "rescored_score")


def second_of(matcher: StoredModel) -> SecondStage | None:
    """Return the second stage of a matcher, if it has one."""
    known = matcher.details.get(SECOND_STAGE, {})
    return SecondStage.read(known) if known.get("features") else None


def as_arrays(rescored: Rescored) -> dict[str, np.ndarray]:
    """Return the pairs as arrays that a file can hold; `from_arrays` takes them back."""
    pairs = rescored.pairs
    return dict(zip(NAMES, (pairs.left, pairs.right, pairs.score), strict=True))


def from_arrays(stored: Mapping[str, np.ndarray], rows: int) -> Rescored:
    """Return the pairs of `as_arrays`; rows: is above every row."""
    return Rescored(Pairs(*(stored[name] for name in NAMES)), rows)


def save_rescored(folder: Path, rescored: Rescored, data: ProjectData) -> None:
    """Write the pairs to their file in the folder of a round's job, atomically, with the rows that competed."""
    withdrawn = np.concatenate([data.dataset.gone_left, data.dataset.gone_right])
    save_arrays(folder / FILE, **as_arrays(rescored), gone=withdrawn, texts=digests_of(data.dataset.texts))


def load_rescored(folder: Path, rows: int) -> Rescored:
    """Return the pairs of `save_rescored`. Raises Damaged if the file is missing or damaged."""
    return from_arrays(load_arrays(folder / FILE, "run the job again, which creates it anew"), rows)


def rescored_of(matcher: StoredModel | None, data: ProjectData, vectors: np.ndarray, progress: Progress) -> Rescored:
    """Return the pairs that the matcher's second stage scores again, if it has one; vectors: (items, d), blended.

    Of texts that were added since, their own pairs are scored, and stored with the others. Pairs of other texts with
    the same rows are scored anew. A job that began before texts were added has no use for their pairs.
    """
    second = None if matcher is None else second_of(matcher)
    if matcher is None or matcher.folder is None or second is None:
        return NOTHING
    folder = artifacts() / matcher.folder
    stored = _stored(folder.parent, data)
    if stored is None:
        return make_rescored(second, data, vectors, progress)  # nobody keeps the file of an earlier round
    new = _added_rows(stored, data)
    known = _among(stored, len(data.item_ids))
    if not len(new):
        return known
    extended = extended_rescored(load_matcher(str(folder)), known, data.dataset, vectors, new, progress)
    save_rescored(folder.parent, extended, data)
    return extended


def make_rescored(second: SecondStage, data: ProjectData, vectors: np.ndarray, progress: Progress) -> Rescored:
    dataset = data.dataset
    fields = second.fields(dataset.fields)
    features = features_of(dataset, vectors, BLENDED, dataset.lexicon, dataset.symmetric, fields, progress)
    pairs = best_dataset_pairs(dataset, vectors, BLENDED, second.floor, progress)
    return rescore(second, pairs, features, len(data.item_ids))


def _stored(folder: Path, data: ProjectData) -> Mapping[str, np.ndarray] | None:
    """Return what is stored of the project's texts; None if it is missing, damaged or of other texts."""
    try:
        stored = load_arrays(folder / FILE, "", (*NAMES, "gone", "texts"))
    except Damaged:
        return None
    return stored if are_alike(stored["texts"], data.dataset.texts) else None


def _among(stored: Mapping[str, np.ndarray], count: int) -> Rescored:
    """Return the stored pairs of the first `count` rows."""
    rows = np.arange(count)
    return from_arrays(stored, max(count, len(stored["texts"]))).within(rows, rows)


def _added_rows(stored: Mapping[str, np.ndarray], data: ProjectData) -> np.ndarray:
    """Return the rows of texts that were not there when the pairs were stored, ascending."""
    present = np.union1d(data.dataset.left, data.dataset.right)
    is_added: np.ndarray = (present >= len(stored["texts"])) | np.isin(present, stored["gone"])
    return present[is_added]
