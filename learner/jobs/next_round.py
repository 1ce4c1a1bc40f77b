"""The job `next_round`: labels up to a cutoff → train → encode → evaluate → choose → the next batch of tasks.

A killed job resumes with the current step. Every step is safe to run twice: files are moved into place whole, and rows
are written in one transaction that first checks whether they exist.
"""

import time
from dataclasses import asdict, replace

import numpy as np
from dbos import DBOS, EnqueueOptions
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind, Settings, batch_size_of
from allpairs.db.files.artifacts import publishing
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.labels.audits import newest_design
from allpairs.db.labels.tasks import newest_round
from allpairs.db.progress import Progress, part_of
from allpairs.db.projects.jobs import MATCHES as MATCHES_JOB
from allpairs.db.projects.jobs import RATE
from allpairs.db.projects.matchers import has_group_figures, matcher_of, newest_matcher
from allpairs.db.projects.notices import announcing_target
from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.projects.stable_groups import Asked
from allpairs.db.raters.rows import rater_at_work
from allpairs.db.raters.training import teaching_of
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Job, Matcher, Project, Round, Task
from allpairs.learner.jobs.audit.draw_pairs import draw_pairs
from allpairs.learner.jobs.audit.measure import is_audited, measure_models
from allpairs.learner.jobs.batch_order import in_order
from allpairs.learner.jobs.data.evaluation_snapshot import blend_of, has_model, look
from allpairs.learner.jobs.data.mark_sentences import mark_passages
from allpairs.learner.jobs.data.project_data import ProjectData, known_keys, read_labels, read_project, with_implied
from allpairs.learner.jobs.data.round_files import (
    add_round_details,
    model_name,
    rescored_of,
    round_folder,
    tidy_folders,
    vectors_path,
)
from allpairs.learner.jobs.data.round_plan import Plan, layer_of, taught_by, teaching_of_plan
from allpairs.learner.jobs.data.stored_matcher import store_matcher
from allpairs.learner.jobs.data.stored_rescored import save_rescored
from allpairs.learner.jobs.data.stored_vectors import encode_and_save, load_vectors, pretrained_vectors, save_vectors
from allpairs.learner.jobs.data.stored_verdicts import read_verdicts
from allpairs.learner.jobs.data.strategy_inputs import background_of
from allpairs.learner.jobs.entities.measure import measure_groups
from allpairs.learner.jobs.kept_groups import followed
from allpairs.learner.jobs.make_batch import add_batch, alike_of, audits_in, keep_scores, note_of
from allpairs.learner.jobs.queue.job_state import database, job_state
from allpairs.learner.jobs.queue.ownership import require_own, this_run
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.recovery import MOST_ATTEMPTS
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.loop.bare import fitted_bare, measured_bare
from allpairs.learner.loop.round import choose, evaluate, refit
from allpairs.learner.models.cosine_bert import train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.bare import bare_details
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.make_reference import make_reference
from allpairs.learner.scoring.matcher import FILE as MATCHER
from allpairs.learner.scoring.matcher import Matcher as TrainedMatcher
from allpairs.learner.scoring.matcher import add_reference, save_matcher
from allpairs.learner.scoring.reference import FILE as REFERENCE
from allpairs.learner.scoring.score import Blend
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.make import make_staged

NAME = "next_round"
READ, MOST_READ = 4, 4_000  # a machine rater reads so many times the batch beyond it, up to so many pairs
MOST_RESERVE = 500  # tasks beyond the batch, for annotators who go on while the next one is prepared
SEARCH = 0.5  # share of the work on a batch if a re-ranker reads its pairs


@DBOS.workflow(name=NAME, max_recovery_attempts=MOST_ATTEMPTS)
def next_round(project_id: int) -> str:
    """Run the job and return a summary: a matcher if the labels allow one, and the next batch."""
    job_id = str(DBOS.workflow_id)
    with job_state(job_id):
        plan = make_plan(project_id)
        if plan["trains"]:
            plan["training"] = train_matcher(job_id, project_id, plan)
        plan |= encode_items(job_id, project_id, plan)
        matcher_id = evaluate_matcher(job_id, project_id, plan)
        audit_models(job_id, project_id, plan, matcher_id)
        made = make_batch(job_id, project_id, plan, matcher_id)
        mark_passages(job_id, project_id)
        if plan["trains"]:
            describe_model(job_id, project_id, plan, matcher_id)
        for kind, follow in ((RATE, follow_with_rating), (MATCHES_JOB, follow_with_groups)):
            if (found := follow(job_id, project_id)) is not None:
                next_job, queue, asked = found
                # A job that is enqueued twice under the same id runs once.
                options: EnqueueOptions = {"queue_name": queue, "workflow_name": kind, "workflow_id": next_job}
                DBOS.enqueue_workflow_with_options(options, project_id, *asked)
        return made


@job_step
def make_plan(project_id: int) -> Plan:
    """Fix settings, round number, cutoff and label counts, so that all steps of a job see the same."""
    with database() as engine, reading(engine) as session:
        newest = newest_round(session, project_id)
        has_base = matcher_of(session, project_id, 0) is not None
        cutoff = session.scalar(select(func.max(Answer.id)).where(Answer.project_id == project_id)) or 0
        data = read_project(session, project_id)
        labelled = read_labels(session, project_id, data, cutoff)
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
        "labels": len(labelled),
        "positives": labelled.positives,
        "trains": trains,
        **({"rater": asdict(teaching) | {"verdicts": taught}} if teaching else {}),
        "train_share": train_cost / cost,
        "encode_share": len(data.item_ids) / cost,
    }


@job_step
def train_matcher(job_id: str, project_id: int, plan: Plan) -> dict[str, float]:
    """Store the trained encoder in the job's folder, and return loss and seconds."""
    started = time.monotonic()
    with database() as engine, reporting(engine, job_id, 0.0, plan["train_share"]) as progress:
        progress("load", 0.0)
        with reading(engine) as session:
            data = _data(session, project_id, plan)
            labelled = with_implied(read_labels(session, project_id, data, plan["cutoff"]), data)
            teaching = teaching_of_plan(plan)
            verdicts = read_verdicts(session, teaching, data, labelled, plan["cutoff"]) if teaching else None
            before = newest_matcher(session, project_id)
        start = data.settings.encoder
        if data.settings.warm_start and before and before.folder and before.encoder == start and has_model(before):
            start = str(artifacts() / before.folder)
        offset = _hubness(project_id, data, progress)
        encoder = load_encoder(start)
        layer = train(encoder, data.dataset.texts, labelled, data.settings, progress, verdicts, offset=offset)
        encoder.name = data.settings.encoder
    counts = {name: plan[name] for name in ("labels", "positives")}
    model = round_folder(project_id, job_id) / "model"
    require_own(this_run())
    with publishing(model):
        trained = TrainedMatcher(encoder, layer, columns=data.dataset.columns)
        save_matcher(trained, model, settings=data.settings.model_dump(), **counts, **taught_by(plan))
    return {"loss": layer.loss, "seconds": round(time.monotonic() - started, 1)}


@job_step
def encode_items(job_id: str, project_id: int, plan: Plan) -> Plan:
    """Store the blended vectors of all items, by ascending id, in the job's folder.

    Returns the seconds, the score's components as `blend` and, after a training, the output layer as `layer`, that of
    the first stage as `first`, and what the matcher's details say besides as `known`. The model's folder gets the
    reference that its score needs.
    """
    started = time.monotonic()
    with database() as engine, reporting(engine, job_id, plan["train_share"], plan["encode_share"]) as progress:
        progress("load", 0.0)
        with reading(engine) as session:
            data = _data(session, project_id, plan)
            labelled = with_implied(read_labels(session, project_id, data, plan["cutoff"]), data)
        settings, fitted, first, known = data.settings, {}, {}, {}
        blend, model = Blend(settings.hubness), round_folder(project_id, job_id) / "model"
        path = vectors_path(project_id, job_id)
        if settings.lexical or not plan["trains"]:
            vectors = pretrained_vectors(project_id, data, settings, progress)
        if not plan["trains"]:
            save_vectors(path, vectors)
        else:
            if settings.lexical:
                blend = Blend(settings.hubness, fit_lexical(data.dataset, labelled, vectors))
            vectors = encode_and_save(path, load_encoder(str(model)), data, blend, progress)
            layer = refit(vectors, labelled, BLENDED)
            known = bare_details(fitted_bare(data.dataset, vectors, blend, labelled)[1], "cosine", None)
            rng = np.random.default_rng([settings.seed, plan["number"], 3])
            staged = make_staged(data.dataset, vectors, labelled, layer, settings.second_stage, rng, BLENDED, progress)
            save_rescored(round_folder(project_id, job_id), staged.rescored, data)
            first, whole = {"w": layer.w, "b": layer.b}, staged.layer
            fitted = {"w": whole.w, "b": whole.b, "threshold": whole.threshold, "loss": layer.loss}
            known |= staged.as_dict()
            add_round_details(model, **fitted, **blend.as_dict(), **known)
            if blend.needs_all or staged.second:
                rng = np.random.default_rng([settings.seed, plan["number"], 2])
                reference = make_reference(data.dataset, vectors, blend, whole, rng, competition=staged.competition)
                with publishing(model / REFERENCE), publishing(model / CHECKSUMS), publishing(model / MATCHER):
                    add_reference(reference, model)
                known |= reference.as_dict()
    seconds = round(time.monotonic() - started, 1)
    return {"layer": fitted, "first": first, "blend": blend.as_dict(), "known": known, "encode_seconds": seconds}


@job_step
def evaluate_matcher(job_id: str, project_id: int, plan: Plan) -> int:
    """Store the matcher and its figures over all pairs; return its id. It will choose the next batch."""
    share = plan["train_share"] + plan["encode_share"]
    with database() as engine, reporting(engine, job_id, share, 0.02) as progress:
        with reading(engine) as session:
            stored = matcher_of(session, project_id, plan["number"] if plan["trains"] else 0)
            data = _data(session, project_id, plan)
        # A job cancelled after this step has left a matcher of this number: this job replaces it.
        mine = stored is not None and stored.folder == model_name(project_id, job_id, plan)
        if stored is not None and mine and (plan["trains"] or _is_pretrained(stored, data.settings)):
            return stored.id
        started = time.monotonic()
        vectors = load_vectors(vectors_path(project_id, job_id))
        again = rescored_of(project_id, job_id, plan, data)
        layer, seed = layer_of(plan), data.settings.seed
        measured = evaluate(data.dataset, vectors, progress, layer, BLENDED, seed, rescored=again)
        plan = {**plan, "evaluate_seconds": round(time.monotonic() - started, 1)}
        if measured and plan["trains"]:
            add_round_details(round_folder(project_id, job_id) / "model", curve=measured.curve.thinned().as_dict())
        with writing(engine) as session, announcing_target(session, project_id):
            return store_matcher(session, job_id, project_id, data.settings, plan, measured)


@job_step
def audit_models(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> None:
    """Store every matcher's figures from audit labels, if the project has an audit, as without known positives."""
    share = plan["train_share"] + plan["encode_share"] + 0.02
    with database() as engine, reporting(engine, job_id, share, 0.02) as progress:
        with reading(engine) as session:
            data = _data(session, project_id, plan)
            design = newest_design(session, project_id, DesignKind.AUDIT)
            of_entities = newest_design(session, project_id, DesignKind.ENTITIES) or has_group_figures(
                session, project_id
            )
            matcher = session.get_one(Matcher, matcher_id)
        fresh = load_vectors(vectors_path(project_id, job_id)) if design or of_entities or is_audited(data) else None
        if design or is_audited(data):
            measure_models(engine, project_id, data, progress, {} if fresh is None else {matcher_id: fresh})
        if of_entities:
            look(data, matcher, fresh, progress)
            measure_groups(engine, project_id, data, progress)


@job_step
def make_batch(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> str:
    """Store the next round and its tasks, once, and return a summary."""
    number = plan["number"] + 1
    share = plan["train_share"] + plan["encode_share"] + 0.04
    with database() as engine, reporting(engine, job_id, share, 1 - share) as progress:
        with reading(engine) as session:
            data = _data(session, project_id, plan)
            known = known_keys(session, project_id, data)
            rated = rater_at_work(session, project_id, data.settings.rater_use) is not None
        settings = data.settings
        size = batch_size_of(plan["number"], settings.first, settings.growth, settings.growth_kind)
        reserve = min(READ * size, MOST_READ) if rated else min(size, MOST_RESERVE)
        layer = layer_of(plan, "first" if plan.get("first") else "layer")  # jobs of earlier versions have one
        background = background_of(engine, project_id, data, settings, progress)
        vectors, rescored = load_vectors(vectors_path(project_id, job_id)), rescored_of(project_id, job_id, plan, data)
        search = SEARCH if settings.reranker else 1.0
        batch = choose(
            data.dataset, vectors, layer, known, size + reserve, settings,
            np.random.default_rng([settings.seed, number]), lambda s, d: progress(s, search * d), background, BLENDED,
        )  # fmt: skip
        size = min(size, len(batch.pairs))
        batch, order_note = in_order(
            batch, size, data.dataset.texts, settings, lambda s, d: progress(s, search + (1 - search) * d)
        )
        alike = alike_of(batch, data, vectors, background.labelled)
        if plan["trains"]:
            keep_scores(round_folder(project_id, job_id), data, vectors, known, rescored)
        audits = audits_in(size, data.settings.audit_every) if is_audited(data) else 0
        with reading(engine) as session:
            audit = draw_pairs(session, project_id, data, audits) if audits else None
        with writing(engine) as session:
            newest = newest_round(session, project_id)
            if newest is None or newest.number is None or newest.number < number:
                row = Round(
                    project_id=project_id, number=number, strategy=batch.strategy, size=size,
                    matcher_id=matcher_id, note=note_of(plan, batch, size, settings.neighbours, order_note),
                    ordered=settings.batch_order if len(batch.rerank) else None,
                )  # fmt: skip
                p = layer.probability(batch.pairs.score) if layer else None
                rng = np.random.default_rng([data.settings.seed, number, 1])
                add_batch(session, row, batch, p, alike, data, audit, rng)
    tidy_folders(project_id, job_id)
    return f"batch {number}: {size} pairs by {batch.strategy}"


@job_step
def describe_model(job_id: str, project_id: int, plan: Plan, matcher_id: int) -> None:
    """Add the average precision of the bare score to the matcher, where there is a gold positive to measure on."""
    with database() as engine, reporting(engine, job_id, 0.99, 0.01) as progress:
        with reading(engine) as session:
            data = _data(session, project_id, plan)
            if not len(data.dataset.evaluation_positives):
                return
            labelled = with_implied(read_labels(session, project_id, data, plan["cutoff"]), data)
        vectors = load_vectors(vectors_path(project_id, job_id))
        bare = measured_bare(data.dataset, vectors, Blend.read(plan["blend"]), labelled, data.settings, progress)
        add_round_details(round_folder(project_id, job_id) / "model", **bare)
        with writing(engine) as session:
            matcher = session.get_one(Matcher, matcher_id)
            matcher.details = matcher.details | bare


@job_step
def follow_with_rating(job_id: str, project_id: int) -> tuple[str, str, tuple[int]] | None:
    """Add the job that asks the machine rater about the batch, if it is used so; return id, queue and arguments."""
    with database() as engine, writing(engine) as session:
        use = Settings.model_validate(session.get_one(Project, project_id).settings).rater_use
        batch = newest_round(session, project_id)
        if batch is None or rater_at_work(session, project_id, use) is None:
            return None
        rating = f"{RATE}-{job_id}"
        if session.get(Job, rating) is None:
            session.add(Job(id=rating, project_id=project_id, kind=RATE))
        tasks = session.scalar(select(func.count()).where(Task.round_id == batch.id)) or 0
        return rating, queue_of(RATE, served_queues(session)), (2 * tasks,)


@job_step
def follow_with_groups(job_id: str, project_id: int) -> tuple[str, str, Asked] | None:
    """Add the job that brings the project's groups up to date, if it asks for that; return id, queue and arguments."""
    with database() as engine:
        with reading(engine) as session:
            queue = queue_of(MATCHES_JOB, served_queues(session))
        found = followed(engine, project_id, job_id)
        return None if found is None else (found[0], queue, found[1])


def _data(session: Session, project_id: int, plan: Plan) -> ProjectData:
    """Return the project with the texts and settings that the job began with: each row names what made it.

    Texts that were withdrawn meanwhile are missing at once.
    """
    data = read_project(session, project_id, plan.get("newest"))  # jobs of earlier versions have neither
    began = plan.get("settings")
    return data if began is None else replace(data, settings=Settings.model_validate(began))


def _hubness(project_id: int, data: ProjectData, progress: Progress) -> np.ndarray | None:
    """Return the hubness correction of each item under the pre-trained encoder, (items,) float32, if there is any."""
    if not data.settings.hubness:
        return None
    # Their vectors are stored, unless the settings have changed since: the bar waits while they are made.
    vectors = pretrained_vectors(project_id, data, data.settings, part_of(progress, 0.0, 0.0))
    return vectors[:, -1].copy()


def _is_pretrained(matcher: Matcher, settings: Settings) -> bool:
    """Return whether the matcher is these settings' pre-trained encoder, scored as they say."""
    return matcher.encoder == settings.encoder and blend_of(matcher).hubness == settings.hubness
