"""The job `explore`: score the best pairs and all known pairs of a project with one matcher, for the page Explore."""

import time
from pathlib import Path

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.progress import Progress
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.jobs import EXPLORE
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.results.explorations import (
    KNOWN,
    PAIRS,
    Exploration,
    exploration_folder,
    keep_explorations,
    write_exploration,
)
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Answer, StoredModel
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_arrays import save_arrays
from allpairs.learner.jobs.data.stored_rescored import rescored_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.scoring.nearest_texts import lists_of
from allpairs.learner.search.exact import Pairs, count_pairs
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right, scores
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.search.top_pairs import best_pairs

MOST_PAIRS = 200_000  # to keep
ENCODE_SHARE = 0.7  # of the job, where the vectors have to be made
LABELS = {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 0}


@job_workflow(EXPLORE)
@job_step
def prepare(job_id: str, project_id: int, number: int) -> str:
    """Store the pairs in the matcher's exploration, and return a summary."""
    started = time.monotonic()
    with database() as engine:
        with reading(engine) as session:
            matcher = matcher_numbered(session, project_id, number)
            data = read_project(session, project_id)
            cutoff = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
            known = known_rows(session, project_id, data, cutoff)
        with reporting(engine, job_id, 0.0, ENCODE_SHARE) as progress:
            vectors = vectors_of(project_id, matcher, data, data.settings, progress)
            rescored = rescored_of(matcher, data, vectors, progress)
        with reporting(engine, job_id, ENCODE_SHARE, 1 - ENCODE_SHARE) as progress:
            best, pairs = best_item_pairs(data.dataset, vectors, rescored, progress)
    folder = exploration_folder(matcher)
    save_arrays(folder / PAIRS, left=data.item_ids[best.left], right=data.item_ids[best.right], score=best.score)
    _save_known(folder / KNOWN, data, vectors, rescored, known)
    seconds = round(time.monotonic() - started, 1)
    times = times_as_many(data.dataset)
    write_exploration(folder, Exploration(number, pairs, len(best), len(known), cutoff, times, seconds, data.version))
    with database() as engine, reading(engine) as session:
        matchers = [matcher for matcher, _ in matchers_with_evaluations(session, project_id)]
    keep_explorations(project_id, [exploration_folder(matcher) for matcher in matchers])
    return f"{len(best):,} of {pairs:,} pairs, {len(known):,} known pairs"


def matcher_numbered(session: Session, project_id: int, number: int) -> StoredModel:
    """Return the matcher of this round. Raises InputError if it is gone."""
    matcher = matcher_of(session, project_id, number)
    if matcher is None:
        raise InputError(f"round {number} has no model any more: choose another round")
    return matcher


def best_item_pairs(dataset: Dataset, vectors: np.ndarray, rescored: Rescored, progress: Progress) -> tuple[Pairs, int]:
    """Return the best 200,000 pairs of all items as rows, best first, and the number of all pairs.

    Items of different splits are paired too: this list neither measures nor trains.
    """
    lists = lists_of(dataset, of_left=True)
    left = lists.own_rows
    right = lists.candidates
    best = best_pairs(
        as_left(vectors[left], BLENDED),
        as_right(vectors[right], BLENDED),
        dataset.symmetric,
        top=MOST_PAIRS,
        rescored=rescored.within(left, right),
        progress=progress,
    )
    pairs = count_pairs(len(left), len(right), dataset.symmetric)
    return Pairs(left[best.left], right[best.right], best.score), pairs


def times_as_many(dataset: Dataset) -> float:
    """Return how many times rarer matches are among all items than among evaluation items.

    Each item of one list brings its own matches along, while the other list only multiplies the pairs: the factor is
    the ratio of the other list's lengths.
    """
    measuring = len(dataset.evaluation_right)
    return len(lists_of(dataset, of_left=True).candidates) / measuring if measuring else 1.0


def known_rows(session: Session, project_id: int, data: ProjectData, cutoff: int) -> np.ndarray:
    """Return (n, 4) int64, each pair once: rows left and right, then label and gold as 1, 0, or -1 for none.

    Pairs of withdrawn texts are left out.
    """
    gold = dict.fromkeys(map(tuple, data.dataset.positives.tolist()), 1)
    gold |= {(left, right): label for left, right, label in data.dataset.known_pairs.tolist()}
    labels = [label for label in current_labels(session, project_id, cutoff) if label.answer in LABELS]
    left = data.rows(np.array([label.left_id for label in labels], dtype=np.int64)).tolist()
    right = data.rows(np.array([label.right_id for label in labels], dtype=np.int64)).tolist()
    labelled = dict(zip(zip(left, right, strict=True), [LABELS[label.answer] for label in labels], strict=True))
    rows = [(*pair, labelled.get(pair, -1), gold.get(pair, -1)) for pair in {**gold, **labelled}]
    known = np.array(rows, dtype=np.int64).reshape(-1, 4)
    return known[data.in_pairs(known[:, 0], known[:, 1])]


def _with_equal(known: np.ndarray, data: ProjectData) -> tuple[np.ndarray, np.ndarray]:
    """Return the known pairs, then the equal texts of two lists that are not known, and which are equal, (n,) bool."""
    dataset = data.dataset
    equal = data.dataset.equal_pairs
    keys = dataset.keys(known[:, 0], known[:, 1])
    of_equal = dataset.keys(equal[:, 0], equal[:, 1])
    more = equal[~np.isin(of_equal, keys)]
    whole = np.concatenate([known, np.column_stack([more, np.full_like(more, -1)])])
    return whole, np.isin(dataset.keys(whole[:, 0], whole[:, 1]), of_equal)


def _save_known(path: Path, data: ProjectData, vectors: np.ndarray, rescored: Rescored, known: np.ndarray) -> None:
    known, equal = _with_equal(known, data)
    left, right, label, gold = known.T
    score = rescored.replace(left, right, scores(vectors, left, right, BLENDED))
    save_arrays(
        path,
        left=data.item_ids[left],
        right=data.item_ids[right],
        score=score,
        label=label.astype(np.int8),
        gold=gold.astype(np.int8),
        equal=equal,
    )
