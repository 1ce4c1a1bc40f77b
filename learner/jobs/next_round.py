"""The job `next_round`: labels up to a cutoff → train → encode → evaluate → choose → the next batch of tasks.

A killed job resumes with the current step. Every step is safe to run twice: files are moved into place whole, and rows
are written in one transaction that first checks whether they exist.
"""

from dataclasses import asdict

import numpy as np
from dbos import DBOS, EnqueueOptions
from sqlalchemy import func, select

from allpairs.db.domain import DesignKind, batch_size_of
from allpairs.db.groups.decisions import newest_decision
from allpairs.db.labels.audits import newest_design
from allpairs.db.labels.tasks import newest_round
from allpairs.db.progress import Progress
from allpairs.db.projects.jobs import MATCHES as MATCHES_JOB
from allpairs.db.projects.jobs import OPEN, RATE, last_job
from allpairs.db.projects.matchers import has_group_figures, matcher_of
from allpairs.db.projects.projects import project_settings
from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.projects.stable_groups import MatchesArguments
from allpairs.db.raters.rows import rater_at_work
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Job, Round, StoredModel, Task
from allpairs.learner.jobs.audit.draw_pairs import draw_audit_pairs
from allpairs.learner.jobs.audit.measure import is_audited, measure_models
from allpairs.learner.jobs.data.evaluation_snapshot import take_snapshot
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from allpairs.learner.jobs.data.project_data import ProjectData, known_keys, read_labels, read_project, with_implied
from allpairs.learner.jobs.data.round_files import round_folder, round_rescored, tidy_folders, vectors_path
from allpairs.learner.jobs.data.round_plan import Plan, layer_of, planned_data
from allpairs.learner.jobs.data.stored_vectors import load_vectors
from allpairs.learner.jobs.data.stored_verdicts import read_verdicts, teaching_of
from allpairs.learner.jobs.data.strategy_inputs import background_of
from allpairs.learner.jobs.entities.measure import measure_groups
from allpairs.learner.jobs.kept_groups import followed
from allpairs.learner.jobs.make_batch import add_batch, alike_of, audits_in, keep_scores, note_of
from allpairs.learner.jobs.make_model import describe_model, encode_items, evaluate_matcher, train_matcher
from allpairs.learner.jobs.queue.job_state import database, job_workflow
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.loop.round import choose
from allpairs.learner.scoring.matcher import SECOND_STAGE
from allpairs.learner.scoring.untrained import untrained_stage
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.search.rescored import Rescored
from allpairs.learner.second_stage.make import Staged

NAME = "next_round"
READ = 4  # a machine rater reads so many times the batch beyond it
MOST_READ = 4_000  # pairs that it reads at most
MOST_RESERVE = 500  # tasks beyond the batch, for annotators who go on while the next one is prepared


@job_workflow(NAME)
def next_round(job_id: str, project_id: int) -> str:
    """Run the job and return a summary: a matcher if the labels allow one, and the next batch."""
    plan = make_plan(project_id)
    if plan["trains"]:
        plan["training"] = train_matcher(job_id, project_id, plan)
    plan |= encode_items(job_id, project_id, plan)
    matcher_id = evaluate_matcher(job_id, project_id, plan)
    audit_models(job_id, project_id, plan, matcher_id)
    summary = make_batch(job_id, project_id, plan, matcher_id)
    mark_passages(job_id, project_id)
    if plan["trains"]:
        describe_model(job_id, project_id, plan, matcher_id)
    for kind, follow in ((RATE, follow_with_rating), (MATCHES_JOB, follow_with_groups)):
        if (successor := follow(job_id, project_id)) is not None:
            next_job, queue, arguments = successor
            # A job that is enqueued twice under the same id runs once.
            options: EnqueueOptions = {"queue_name": queue, "workflow_name": kind, "workflow_id": next_job}
            DBOS.enqueue_workflow_with_options(options, project_id, *arguments)
    return summary


@job_step
def make_plan(project_id: int) -> Plan:
    """Fix settings, round number, cutoff and label counts, so that all steps of a job see the same."""
    with database() as engine, reading(engine) as session:
        newest = newest_round(session, project_id)
        has_base = matcher_of(session, project_id, 0) is not None
        cutoff = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
        data = read_project(session, project_id)
        as_of = newest_decision(session, project_id)
        labelled = read_labels(session, project_id, data, cutoff, as_of)
        teaching = teaching_of(session, project_id, data.settings.rater_use)
        verdicts = read_verdicts(session, teaching, data, with_implied(labelled, data), cutoff) if teaching else None
    number = newest.number if newest and newest.number and has_base else 0
    trains = number > 0 and labelled.has_both_classes
    taught = len(verdicts.pairs) if verdicts else 0
    train_cost = 3 * (len(labelled) + taught) * data.settings.epochs if trains else 0
    cost = train_cost + 1.1 * len(data.item_ids)
    return {
        "settings": data.settings.model_dump(mode="json"),
        "newest": int(data.item_ids[-1]),  # texts that are added meanwhile are left to the next round
        "version": data.version,
        "number": number,
        "cutoff": cutoff,
        "as_of": as_of.isoformat(),
        "labels": len(labelled),
        "positives": labelled.positives,
        "trains": trains,
        **({"rater": asdict(teaching) | {"verdicts": taught}} if teaching else {}),
        "train_share": train_cost / cost,
        "encode_share": len(data.item_ids) / cost,
    }


@job_step
def audit_models(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> None:
    """Store every matcher's figures from audit labels, if the project has an audit, as without known positives."""
    share = plan["train_share"] + plan["encode_share"] + 0.02
    with database() as engine, reporting(engine, job_id, share, 0.02) as progress:
        with reading(engine) as session:
            data = planned_data(session, project_id, plan)
            design = newest_design(session, project_id, DesignKind.AUDIT)
            of_entities = newest_design(session, project_id, DesignKind.ENTITIES) or has_group_figures(
                session, project_id
            )
            matcher = session.get_one(StoredModel, matcher_id)
        fresh = load_vectors(vectors_path(project_id, job_id)) if design or of_entities or is_audited(data) else None
        if design or is_audited(data):
            measure_models(engine, project_id, data, progress, {} if fresh is None else {matcher_id: fresh})
        if of_entities:
            take_snapshot(data, matcher, fresh, progress)
            measure_groups(engine, project_id, data, progress)


@job_step
def make_batch(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> str:
    """Store the next round and its tasks, once, and return a summary."""
    number = plan["number"] + 1
    share = plan["train_share"] + plan["encode_share"] + 0.04
    with database() as engine, reporting(engine, job_id, share, 1 - share) as progress:
        with reading(engine) as session:
            data = planned_data(session, project_id, plan)
            known = known_keys(session, project_id, data)
            rated = rater_at_work(session, project_id, data.settings.rater_use) is not None
        settings = data.settings
        size = batch_size_of(plan["number"], settings.first, settings.growth, settings.growth_kind)
        reserve = min(READ * size, MOST_READ) if rated else min(size, MOST_RESERVE)
        background = background_of(engine, project_id, data, settings, progress)
        vectors = load_vectors(vectors_path(project_id, job_id))
        rescored = round_rescored(project_id, job_id, plan, data)
        batch = choose(
            data.dataset,
            vectors,
            layer_of(plan, "first"),
            known,
            size + reserve,
            settings,
            np.random.default_rng([settings.seed, number]),
            progress,
            background,
            BLENDED,
            _by_columns(plan, data, vectors, rescored, progress),
        )
        size = min(size, len(batch.pairs))
        alike = alike_of(batch, data, vectors, background.labelled)
        if plan["trains"]:
            keep_scores(round_folder(project_id, job_id), data, vectors, known, rescored)
        audits = audits_in(size, data.settings.audit_every) if is_audited(data) else 0
        with reading(engine) as session:
            audit = draw_audit_pairs(session, project_id, data, audits) if audits else None
        with writing(engine) as session:
            newest = newest_round(session, project_id)
            if newest is None or newest.number is None or newest.number < number:
                row = Round(
                    project_id=project_id,
                    number=number,
                    strategy=batch.strategy,
                    size=size,
                    matcher_id=matcher_id,
                    note=note_of(batch, size, settings.neighbours),
                )
                rng = np.random.default_rng([data.settings.seed, number, 1])
                add_batch(session, row, batch, alike, data, audit, rng)
                # That of round 0 chooses again and again.
                session.get_one(StoredModel, matcher_id).cutoff = plan["cutoff"]
    tidy_folders(project_id, job_id)
    return f"batch {number}: {size} pairs by {batch.strategy}"


def _by_columns(
    plan: Plan, data: ProjectData, vectors: np.ndarray, rescored: Rescored, progress: Progress
) -> Staged | None:
    """Return the whole score, if it compares columns."""
    if not plan["trains"]:
        return untrained_stage(data.dataset, vectors, data.settings, progress)
    layer = layer_of(plan)
    agrees = "agreement" in plan["known"].get(SECOND_STAGE, {})
    return Staged(layer, rescored=rescored) if layer and agrees else None


@job_step
def follow_with_rating(job_id: str, project_id: int) -> tuple[str, str, tuple[int]] | None:
    """Add the job that asks the machine rater about the batch, if it is used so; return id, queue and arguments.

    Returns None, too, while the rater is being asked: both jobs would ask, and pay, for the same pairs.
    """
    with database() as engine, writing(engine) as session:
        use = project_settings(session, project_id).rater_use
        batch = newest_round(session, project_id)
        if batch is None or rater_at_work(session, project_id, use) is None:
            return None
        rating = f"{RATE}-{job_id}"
        if session.get(Job, rating) is None:
            last = last_job(session, project_id, [RATE])
            if last is not None and last.state in OPEN:
                return None
            session.add(Job(id=rating, project_id=project_id, kind=RATE))
        tasks = session.scalar(select(func.count()).where(Task.round_id == batch.id)) or 0
        return rating, queue_of(RATE, served_queues(session)), (2 * tasks,)


@job_step
def follow_with_groups(job_id: str, project_id: int) -> tuple[str, str, MatchesArguments] | None:
    """Add the job that brings the project's groups up to date, if it asks for that; return id, queue and arguments."""
    with database() as engine:
        with reading(engine) as session:
            queue = queue_of(MATCHES_JOB, served_queues(session))
        search = followed(engine, project_id, job_id)
        return None if search is None else (search[0], queue, search[1])
