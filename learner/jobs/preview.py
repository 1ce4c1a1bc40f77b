"""The job `preview`: the first pairs of a batch under some settings. The project does not change."""

from typing import Any

import numpy as np

from allpairs.db.domain import Settings
from allpairs.db.files.json_file import write_json
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import PREVIEW
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.results.job_results import Preview, PreviewPair, preview_path
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, known_keys, read_project
from allpairs.learner.jobs.data.stored_rescored import rescored_of, second_of
from allpairs.learner.jobs.data.stored_vectors import vectors_of
from allpairs.learner.jobs.data.strategy_inputs import background_of
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.loop.round import Batch, choose
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.untrained import untrained_stage
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.make import Staged

PAIRS = 10
ENCODE_SHARE = 0.8  # of the job, where the vectors have to be made


@job_workflow(PREVIEW)
@job_step
def choose_pairs(job_id: str, project_id: int, entered: dict[str, Any]) -> str:
    """Store the pairs in the strategy's file, and return a summary."""
    settings = Settings.model_validate(entered)
    with database() as engine:
        with reading(engine) as session:
            data = read_project(session, project_id)
            known = known_keys(session, project_id, data)
            matcher = newest_matcher(session, project_id)
        with reporting(engine, job_id, 0.0, ENCODE_SHARE) as progress:
            vectors = vectors_of(project_id, matcher, data, settings, progress)
            background = background_of(engine, project_id, data, settings, progress)
        number = matcher.number if matcher else None
        with reporting(engine, job_id, ENCODE_SHARE, 1 - ENCODE_SHARE) as progress:
            rng = np.random.default_rng([settings.seed, (number or 0) + 1])
            whole = _by_columns(matcher, data, vectors, settings, progress)
            layer = _layer_of(matcher)
            batch = choose(
                data.dataset, vectors, layer, known, PAIRS, settings, rng, progress, background, BLENDED, whole
            )
    result = Preview(job_id, entered, batch.strategy, number, _pairs(batch, data))
    write_json(preview_path(project_id, result.strategy), result)
    return f"{len(batch.pairs)} pairs by {batch.strategy}"


def _by_columns(
    matcher: StoredModel | None, data: ProjectData, vectors: np.ndarray, settings: Settings, progress: Progress
) -> Staged | None:
    """Return the whole score, if it compares columns."""
    layer = _layer_of(matcher)
    if matcher is None or layer is None:
        return untrained_stage(data.dataset, vectors, settings, progress)
    second = second_of(matcher)
    if second is None or second.agreement is None:
        return None
    return Staged(layer, second, rescored_of(matcher, data, vectors, progress))


def _layer_of(matcher: StoredModel | None) -> OutputLayer | None:
    return None if matcher is None or matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)


def _pairs(batch: Batch, data: ProjectData) -> list[PreviewPair]:
    pairs = batch.pairs
    p = [None] * len(pairs) if batch.p is None else batch.p.tolist()
    left = data.item_ids[pairs.left].tolist()
    right = data.item_ids[pairs.right].tolist()
    return [PreviewPair(*pair) for pair in zip(left, right, pairs.score.tolist(), p, strict=True)]
