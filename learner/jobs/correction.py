"""The job `correction`: a matcher's putative false positives → strata → an audit batch; labels → corrected precision.

Pairs missing from gold count as negatives, and some of them are positives. With `draw` = 0 the job draws nothing: it
recomputes the figures of every correction whose pairs are all labelled.
"""

from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard
from allpairs.db.labels.audits import add_audit_tasks
from allpairs.db.labels.tasks import may_add_audit_batch
from allpairs.db.labels.withdrawn import open_batch
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Design, Round, StoredModel
from allpairs.learner.evaluation.audit.sides import Sides
from allpairs.learner.evaluation.false_negatives import STRATA, Putative, find_putative, lowest, near
from allpairs.learner.jobs.correction_figures import store_figures
from allpairs.learner.jobs.data.evaluation_snapshot import blend_of, encode_needed, rows_of, sides
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.jobs.data.stored_rescored import as_arrays, from_arrays, rescored_of, second_of
from allpairs.learner.jobs.queue.job_state import database, folder_of, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.exact import Pairs, count_pairs
from allpairs.learner.search.rescored import NOTHING

NAME = "correction"
MODELS = ("matcher", "base")  # the matcher scores the pairs; the pre-trained encoder tells near from far
ENCODE_SHARE = 0.45  # of the job, for each model


@job_workflow(NAME)
def correction(job_id: str, project_id: int, number: int, recall: float, draw: int) -> str:
    """Run the job and return a summary. number: the matcher's round; draw: pairs per stratum, 0 for figures only."""
    if draw:
        for model in MODELS:
            encode_evaluation_items(job_id, project_id, number, model)
        draw_false_positives(job_id, project_id, number, recall, draw)
        mark_passages(job_id, project_id, audit_batch=True)
    return measure_corrections(job_id, project_id)


@job_step
def encode_evaluation_items(job_id: str, project_id: int, number: int, model: str) -> None:
    """Store the evaluation items' vectors under one of MODELS in the job's folder, in row order."""
    with database() as engine, reporting(engine, job_id, MODELS.index(model) * ENCODE_SHARE, ENCODE_SHARE) as progress:
        progress("load", 0.0)
        with reading(engine) as session:
            data, matcher = _read(session, project_id, number)
        trained = model == "matcher" and matcher.folder is not None
        encoder = load_encoder(str(artifacts() / str(matcher.folder)) if trained else matcher.encoder)
        all_items = model == "matcher" and second_of(matcher) is not None
        vectors = encode_needed(
            data, encoder, blend_of(matcher) if model == "matcher" else Blend(), all_items, progress
        )
        rows = rows_of(data)
        rescored = rescored_of(matcher, data, vectors, progress).within(rows, rows) if all_items else NOTHING
    save_arrays(_path(project_id, job_id, model), vectors=vectors[rows], **as_arrays(rescored))


@job_step
def draw_false_positives(job_id: str, project_id: int, number: int, recall: float, draw: int) -> None:
    """Store the design and its audit batch, once.

    The pairs with the lowest permanent random numbers of each stratum are drawn, then shuffled.
    """
    share = len(MODELS) * ENCODE_SHARE
    with database() as engine, reporting(engine, job_id, share, 1 - share) as progress:
        with reading(engine) as session:
            data, matcher = _read(session, project_id, number)
        paths = [_path(project_id, job_id, model) for model in MODELS]
        stored = [load_arrays(path, "check the false positives again") for path in paths]
        rows = len(data.item_ids)
        pair_sides, base = (sides(data, arrays["vectors"], rescored=from_arrays(arrays, rows)) for arrays in stored)
        positives = data.dataset.evaluation_positives
        seed = data.settings.seed
        putative = find_putative(
            pair_sides.left, pair_sides.right, positives, recall, pair_sides.symmetric, progress, pair_sides.rescored
        )
        stratum = np.where(near(putative.false, base.left, base.right, base.symmetric, progress), 0, 1)
        drawn = lowest(pair_sides.numbers(putative.false.left, putative.false.right, seed), stratum, draw)
        np.random.default_rng([seed, number]).shuffle(drawn)
        layer = None if matcher.w is None or matcher.b is None else OutputLayer(matcher.w, matcher.b)
        sizes = np.bincount(stratum, minlength=len(STRATA)).tolist()
        design = _design(data, matcher, putative, sizes, recall)
        with writing(engine) as session:
            _store(session, job_id, design, _tasks(pair_sides, putative.false, stratum, drawn, layer))


@job_step
def measure_corrections(job_id: str, project_id: int) -> str:
    """Store the figures of every correction whose pairs are all labelled, and return a summary."""
    with database() as engine, writing(engine) as session:
        summary = store_figures(session, project_id)
    discard(_path(project_id, job_id, MODELS[0]).parent)
    return summary


def _read(session: Session, project_id: int, number: int) -> tuple[ProjectData, StoredModel]:
    matcher = matcher_of(session, project_id, number)
    if matcher is None:
        raise InputError(f"round {number} has no model: choose a round listed on the Monitor page")
    data = read_project(session, project_id)
    if not len(data.dataset.evaluation_positives):
        raise InputError(
            "none of the known positives is a pair of evaluation items, so there is no precision to correct: "
            "import known pairs of evaluation items"
        )
    return data, matcher


def _design(data: ProjectData, matcher: StoredModel, putative: Putative, sizes: list[int], recall: float) -> Design:
    """Return the design without its number and folder. sizes: the putative false positives in each stratum."""
    dataset = data.dataset
    high = float(putative.false.score.max(initial=putative.threshold))
    return Design(
        project_id=matcher.project_id,
        kind=DesignKind.CORRECTION,
        matcher_id=matcher.id,
        pairs=count_pairs(len(dataset.evaluation_left), len(dataset.evaluation_right), dataset.symmetric),
        strata=[
            {"name": name, "low": putative.threshold, "high": high, "size": size}
            for name, size in zip(STRATA, sizes, strict=True)
        ],
        details={
            "round": matcher.number,
            "recall": recall,
            "threshold": putative.threshold,
            "true": putative.true,
            "false": sizes,
            "positives": len(dataset.evaluation_positives),
        },
    )


def _tasks(
    pair_sides: Sides, false: Pairs, stratum: np.ndarray, drawn: np.ndarray, layer: OutputLayer | None
) -> list[dict[str, Any]]:
    """Return the columns of the tasks, in the order of `drawn` (positions in `false`)."""
    chosen = false.take(drawn)
    strata = stratum[drawn]
    inclusion = np.bincount(strata, minlength=len(STRATA)) / np.maximum(np.bincount(stratum, minlength=len(STRATA)), 1)
    p = [None] * len(drawn) if layer is None else layer.probability(chosen.score).tolist()
    columns = {
        "left_id": pair_sides.left_ids[chosen.left].tolist(),
        "right_id": pair_sides.right_ids[chosen.right].tolist(),
        "position": range(len(drawn)),
        "score": chosen.score.tolist(),
        "p": p,
        "inclusion": inclusion[strata].tolist(),
        "stratum": strata.tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _store(session: Session, job_id: str, design: Design, tasks: list[dict[str, Any]]) -> None:
    """Store the design and the audit batch with its tasks, once. Without tasks there is no audit batch."""
    folder = folder_of(design.project_id, job_id)
    if session.scalar(select(Design.id).where(Design.folder == folder)) is not None:
        return
    last = session.scalar(select(func.max(Design.number)).where(Design.project_id == design.project_id))
    design.number = (last or 0) + 1
    design.folder = folder
    session.add(design)
    session.flush()
    if tasks:
        if not may_add_audit_batch(session, design.project_id):  # one may have been opened meanwhile
            raise InputError("an audit batch is open: label it first, then check the false positives again")
        audit_batch = Round(
            project_id=design.project_id,
            strategy=DesignKind.CORRECTION,
            size=len(tasks),
            matcher_id=design.matcher_id,
        )
        session.add(audit_batch)
        session.flush()
        add_audit_tasks(session, audit_batch, design, tasks)
        open_batch(session, audit_batch)


def _path(project_id: int, job_id: str, model: str) -> Path:
    return artifacts() / folder_of(project_id, job_id) / f"{model}.npz"
