"""The job `search`: the nearest items of a typed text, or of an item, under one matcher."""

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import SEARCH
from allpairs.db.results.job_results import Hit, Search, write_search
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.evaluation_snapshot import blend_of
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.explore import matcher_numbered
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.any_pairs import EncodedTexts, explain_pairs, score_pairs
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.scoring.nearest_texts import Lists, lists_of, nearest_rows, text_vector

MOST_HITS = 100
EXPLAINED = 20
ENCODE_SHARE = 0.9  # of the job, where the vectors have to be made


@job_workflow(SEARCH)
@job_step
def find_nearest(job_id: str, project_id: int, number: int, text: str, item_id: int | None, of_left: bool) -> str:
    """Store the hits in the search's file, and return a summary."""
    with database() as engine:
        with reading(engine) as session:
            matcher = matcher_numbered(session, project_id, number)
            data = read_project(session, project_id)
        with reporting(engine, job_id, 0.0, ENCODE_SHARE) as progress:
            vectors = vectors_of(project_id, matcher, data, data.settings, progress)
        with reporting(engine, job_id, ENCODE_SHARE, 1 - ENCODE_SHARE) as progress:
            lists = lists_of(data.dataset, of_left)
            if item_id is None:
                query = _typed(matcher, data, vectors, text, lists, progress)
                rows = lists.candidates
            else:
                row = _row_of(data, item_id)
                query = vectors[[row]]
                rows = lists.candidates[lists.candidates != row]
            nearest, scores = nearest_rows(vectors, query, rows, MOST_HITS, progress)
            query_side = _asked(data, text, item_id, query, len(nearest), of_left)
            nearest, scores, reasons = _again(matcher, data, vectors, query_side, nearest, scores)
    p = [None] * len(scores)
    if matcher.w is not None and matcher.b is not None:
        p = OutputLayer(matcher.w, matcher.b).probability(scores).tolist()
    whys = reasons + [""] * (len(nearest) - len(reasons))
    hits = [Hit(*hit) for hit in zip(data.item_ids[nearest].tolist(), scores.tolist(), p, whys, strict=True)]
    write_search(project_id, Search(job_id, number, text, item_id, hits))
    return f"{len(hits)} nearest texts"


def _typed(
    matcher: StoredModel, data: ProjectData, vectors: np.ndarray, text: str, lists: Lists, progress: Progress
) -> np.ndarray:
    progress("load", 0.0)
    encoder = load_encoder(str(artifacts() / matcher.folder) if matcher.folder else matcher.encoder)
    return text_vector(data.dataset, vectors, encoder.encode([text]), text, lists, blend_of(matcher))


def _asked(
    data: ProjectData, text: str, item_id: int | None, query: np.ndarray, times: int, of_left: bool
) -> EncodedTexts:
    """Return the text that was typed, or an item with its columns, as the first text of so many pairs."""
    row = None if item_id is None else _row_of(data, item_id)
    query_text = text if row is None else data.dataset.texts[row]
    fields = [] if row is None else [field.take([row]) for field in data.dataset.fields]
    return EncodedTexts([query_text], query, np.zeros(times, dtype=np.int64), of_left, fields)


def _again(
    model: StoredModel,
    data: ProjectData,
    vectors: np.ndarray,
    query_side: EncodedTexts,
    rows: np.ndarray,
    cosines: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return the rows in the order of the whole score, these scores, and the reasons of the first of them."""
    if not model.folder or not len(rows):
        return rows, cosines, []
    loaded = load_matcher(str(artifacts() / model.folder))
    texts = [data.dataset.texts[row] for row in rows]
    fields = [field.take(rows) for field in data.dataset.fields]
    hit_side = EncodedTexts(texts, vectors[rows], np.arange(len(rows)), not query_side.of_left, fields)
    left, right = (query_side, hit_side) if query_side.of_left else (hit_side, query_side)
    score = cosines if loaded.second is None else score_pairs(loaded, left, right, *[np.arange(len(rows))] * 2)
    order = np.argsort(-score, kind="stable")
    reasons = explain_pairs(loaded, left, right, *[order[:EXPLAINED]] * 2)
    return rows[order], score[order], [", ".join(map(str, parts)) for parts in reasons]


def _row_of(data: ProjectData, item_id: int) -> int:
    row = int(data.rows(np.array([item_id]))[0])
    is_known = row < len(data.item_ids) and data.item_ids[row] == item_id
    if not (is_known and data.in_pairs(np.array([row]), np.array([row]))[0]):
        raise InputError(f"the project has no text with number {item_id} any more: choose another one")
    return row
