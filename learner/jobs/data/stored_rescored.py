"""The pairs that a round's second stage has scored again: as the round left them, else computed once more."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from allpairs.db.files.checksums import Damaged
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import Matcher
from allpairs.learner.jobs.data.extended_rescored import extended_rescored
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.jobs.data.text_digest import digest_of_texts
from allpairs.learner.scoring.matcher import SECOND_STAGE, load_matcher
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.second_stage.rescore import best_of, features_of, rescore
from allpairs.learner.second_stage.second_stage import SecondStage

FILE = "rescored.npz"  # beside the vectors


def second_of(matcher: Matcher) -> SecondStage | None:
    """Return the second stage of a matcher, if it has one."""
    known = matcher.details.get(SECOND_STAGE, {})
    return SecondStage.read(known) if known.get("features") else None


def as_arrays(rescored: Rescored) -> dict[str, np.ndarray]:
    """Return the pairs as arrays that a file can hold; `from_arrays` takes them back."""
    pairs = rescored.pairs
    return {"rescored_left": pairs.left, "rescored_right": pairs.right, "rescored_score": pairs.score}


def from_arrays(stored: Mapping[str, np.ndarray], rows: int) -> Rescored:
    """Return the pairs of `as_arrays`, none if an earlier version stored none; rows: is above every row."""
    if "rescored_left" not in stored:
        return NOTHING
    return Rescored(Pairs(*(stored[f"rescored_{column}"] for column in ("left", "right", "score"))), rows)


def save_rescored(folder: Path, rescored: Rescored, data: ProjectData) -> None:
    """Write the pairs to their file in the folder of a round's job, atomically, with the rows that competed."""
    dataset, rows = data.dataset, np.array(len(data.item_ids))
    gone, texts = np.concatenate([dataset.gone_left, dataset.gone_right]), np.array(digest_of_texts(dataset.texts))
    save_arrays(folder / FILE, **as_arrays(rescored), rows=rows, gone=gone, texts=texts)


def load_rescored(folder: Path, rows: int) -> Rescored:
    """Return the pairs of `save_rescored`. Raises Damaged if the file is missing or damaged."""
    return from_arrays(load_arrays(folder / FILE, "run the job again, which creates it anew"), rows)


def rescored_of(matcher: Matcher | None, data: ProjectData, vectors: np.ndarray, progress: Progress) -> Rescored:
    """Return the pairs that the matcher's second stage scores again, if it has one; vectors: (items, d), blended.

    Of texts that were added since, their own pairs are scored, and stored with the others. Pairs of other texts with
    the same rows are scored anew.
    """
    second = None if matcher is None else second_of(matcher)
    if matcher is None or matcher.folder is None or second is None:
        return NOTHING
    folder = artifacts() / matcher.folder
    try:
        stored = load_arrays(folder.parent / FILE, "")
    except Damaged:
        stored = {}
    if not _are_of(stored, data.dataset.texts):
        return _made(second, data, vectors, progress)  # nobody keeps the file of an earlier round
    new, known = _lacking(stored, data), from_arrays(stored, len(data.item_ids))
    if not len(new):
        return known
    found = extended_rescored(load_matcher(str(folder)), known, data.dataset, vectors, new, progress)
    found = _made(second, data, vectors, progress) if found is None else found
    save_rescored(folder.parent, found, data)
    return found


def _made(second: SecondStage, data: ProjectData, vectors: np.ndarray, progress: Progress) -> Rescored:
    dataset = data.dataset
    features = features_of(dataset, vectors, BLENDED, dataset.lexicon, dataset.symmetric, second.kinds, progress)
    pairs = best_of(dataset, vectors, BLENDED, second.floor, progress)
    return rescore(second, pairs, features, len(data.item_ids))


def _are_of(stored: Mapping[str, np.ndarray], texts: Sequence[str]) -> bool:
    """Return whether the stored pairs are of the first of these texts."""
    return "texts" in stored and str(stored["texts"]) == digest_of_texts(texts[: int(stored["rows"])])


def _lacking(stored: Mapping[str, np.ndarray], data: ProjectData) -> np.ndarray:
    """Return the rows of texts that were not there when the pairs were stored, ascending."""
    there = np.union1d(data.dataset.left, data.dataset.right)
    lacks: np.ndarray = (there >= stored["rows"]) | np.isin(there, stored["gone"])
    return there[lacks]
