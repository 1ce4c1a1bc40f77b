"""Load a published model: its folder, the vectors of the project's texts, and the indexes of these."""

from contextlib import suppress

import numpy as np
from sqlalchemy import Engine

from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_vectors import FILE, are_of, load_vectors, vectors_of
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.scoring.nearest_texts import lists_of
from allpairs.learner.search.inner_product import Factor, Space, as_left, as_right
from allpairs.learner.serving.candidates import EXACT_UP_TO, CandidateIndex, make_candidates
from allpairs.learner.serving.project_texts import ONE_COLUMN, ProjectTexts
from allpairs.learner.serving.served_model import ServedModel
from allpairs.learner.serving.trial import Trials


def load_tried(trials: Trials, engine: Engine, project_id: int, matcher_id: int) -> tuple[ProjectTexts, ServedModel]:
    """Do `load_served` with a model that a process of its own has loaded before, within limits."""
    trials.require_loadable(artifacts() / _row(engine, matcher_id)[1])
    return load_served(engine, project_id, matcher_id)


def load_served(
    engine: Engine, project_id: int, matcher_id: int, progress: Progress = no_progress, exact: int = EXACT_UP_TO
) -> tuple[ProjectTexts, ServedModel]:
    """Load the model with its vectors, and index them. Encodes the texts if their vectors are no longer stored.

    exact: as in `make_candidates`. Raises InputError if the model is gone, damaged, or lacks what its score needs.
    """
    row, folder = _row(engine, matcher_id)
    with reading(engine) as session:
        data = read_project(session, project_id)
        named = TextColumns.read(project_of(session, project_id).text_columns)
    matcher = load_matcher(str(artifacts() / folder))
    dataset = data.dataset
    vectors = _vectors(row, data, progress)
    rng = np.random.default_rng(0)
    rows = {}
    indexes = {}
    for of_left in (True,) if dataset.symmetric else (True, False):
        lists = lists_of(dataset, of_left)
        rows[of_left] = lists.candidates
        indexes[of_left] = _index(
            vectors, (lists.own_rows, lists.candidates), of_left, matcher.space, rng, progress, exact
        )
    columns = matcher.columns or named or ONE_COLUMN
    return ProjectTexts(data.item_ids, dataset.symmetric, columns), ServedModel(matcher, vectors, rows, indexes)


def _row(engine: Engine, matcher_id: int) -> tuple[StoredModel, str]:
    """Return the matcher and its folder. Raises InputError if it is gone."""
    with reading(engine) as session:
        row = session.get(StoredModel, matcher_id)
    if row is None or row.folder is None:
        raise InputError("the published model is gone: publish another round's")
    return row, row.folder


def _vectors(row: StoredModel, data: ProjectData, progress: Progress) -> np.ndarray:
    """Return the model's blended vectors (items, d), memory-mapped."""
    path = (artifacts() / str(row.folder)).parent / FILE
    with suppress(InputError):
        stored = load_vectors(path)
        if len(stored) >= len(data.item_ids) and are_of(path, data.dataset.texts):
            return stored
    vectors_of(row.project_id, row, data, data.settings, progress)  # encodes those of added texts, or all
    return load_vectors(path)


def _index(
    vectors: np.ndarray,
    lists: tuple[np.ndarray, np.ndarray],
    of_left: bool,
    space: Space,
    rng: np.random.Generator,
    progress: Progress,
    exact: int,
) -> CandidateIndex:
    as_query, as_candidate = (as_left, as_right) if of_left else (as_right, as_left)
    queries, candidates = (
        Factor(vectors, *arguments) for arguments in ((lists[0], space, as_query), (lists[1], space, as_candidate))
    )
    return make_candidates(queries, candidates, rng, progress, exact)
