"""Requests for jobs, which the worker runs.

Requesting a job on a project that is archived or in the bin raises InputError.
"""

import os
from collections.abc import Callable
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import project_for, require_models
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.training_news import why_no_training
from allpairs.db.domain import Kind
from allpairs.db.errors import Busy, InputError
from allpairs.db.labels.tasks import open_audit_batch, unanswered
from allpairs.db.projects import jobs
from allpairs.db.projects.jobs import (
    AUDIT,
    CORRECTION,
    ENTITIES,
    EXPERIMENT,
    EXPLORE,
    MATCHES,
    NEXT_ROUND,
    PIPELINE,
    PREVIEW,
    RATE,
)
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.projects.records import require_column
from allpairs.db.projects.stable_groups import asked_as_before
from allpairs.db.raters.audits import require_readable
from allpairs.db.raters.rows import rater_to_ask, setup_of
from allpairs.db.rating import RatedFor, require_usable
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import reading
from allpairs.learner.light.groups.grouping import USUAL, Grouping

MOST_RATED = 100_000  # pairs that one job asks about
MOST_QUICK = 10  # open searches of a project, and the like
RETRY_SECONDS = 5  # seconds after which to ask again
# errors while a project's job of the kind is open
BUSY = {
    PREVIEW: "a preview is being made",
    EXPERIMENT: "an experiment on this project is running",
    EXPLORE: "a round is being prepared",
    MATCHES: "a search for matches is already running",
    PIPELINE: "a pipeline on this project is running",
    RATE: "the machine rater is being asked already",
}

# (session, project): raises InputError if the job would have nothing to do, or names what the person may not use
Check = Callable[[Session, int], object]


def request_round(engine: Engine, project_id: int) -> str:
    """Request the job that trains and chooses the next batch; return its id, or that of the open one.

    Raises InputError if it would learn nothing that the newest model has not learned, while the batch that it would
    replace is not complete, or while another kind of job is open.
    """
    return _request(engine, project_id, NEXT_ROUND, (), _require_news, joins=True)


def request_audit(engine: Engine, project_id: int, draw: int) -> str:
    """Request the job that samples this many pairs as an audit batch and updates the figures; return its id.

    With `draw` 0 it only updates the figures, and an open job of this kind will do. Raises InputError while another job
    is open and, if pairs are to be drawn, while an audit batch is open.
    """
    return _request(engine, project_id, AUDIT, (draw,), require_no_audit_batch if draw else None, joins=not draw)


def request_entities(engine: Engine, project_id: int, draw: int) -> str:
    """Request the job that draws this many texts for the entity audit and measures the groups; return its id.

    With `draw` 0 it only measures. Raises InputError as `request_audit`.
    """
    check = require_no_audit_batch if draw else None
    return _request(engine, project_id, ENTITIES, (draw,), check, joins=not draw)


def request_correction(engine: Engine, project_id: int, number: int, recall: float, draw: int) -> str:
    """Request the job that samples this many putative false positives from each stratum; return its id.

    They are sampled for the matcher of this number at this recall, and the corrected figures are updated; with `draw` 0
    only the latter. Raises InputError while a job is open and, if pairs are to be drawn, while an audit batch is open.
    """
    check = require_no_audit_batch if draw else None
    return _request(engine, project_id, CORRECTION, (number, recall, draw), check, joins=False)


def request_experiment(engine: Engine, project_id: int, definition: dict[str, Any]) -> str:
    """Request the job that runs this experiment on the project's data; return its id. No other job waits for it.

    definition: as in an experiment's file, without data sets. Raises InputError while the project's last one is open.
    """
    return request_apart(engine, project_id, EXPERIMENT, definition)


def request_pipeline(engine: Engine, project_id: int, name: str, config: dict[str, Any], chosen: dict[str, Any]) -> str:
    """Request the job that runs this pipeline on the project's data; return its id. No other job waits for it.

    config, chosen: its configuration and its inputs, as in the catalog. If the inputs name another project, the job
    gets its number, so that no other is read that has its name later. Raises InputError while the project's last one
    is open, and Refused if the person may not export that project's data or use the models that are named.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        require_models(session, config)
        if source := chosen.get("project", "").strip():
            chosen = chosen | {"source_id": project_for(session, Right.CHANGE, source).id}
        job_id = _add_apart(session, project_id, PIPELINE)
    enqueue_workflow(engine, job_id, PIPELINE, project_id, name, config, chosen)
    return job_id


def request_rating(engine: Engine, project_id: int, most: int, purpose: RatedFor = RatedFor.LABELS) -> str:
    """Request the job that asks the machine rater about up to `most` pairs; return its id. No other job waits for it.

    Raises InputError while it is being asked, if the project has no rater, if it is paused, if the operator has not
    named its function or key, and if it is to read pairs of an audit that there is not yet, or that draws by another
    rater's verdicts.
    """

    def check(session: Session, project_id: int) -> None:
        rater = rater_to_ask(session, project_id)
        require_usable(setup_of(rater), os.environ)
        if purpose == RatedFor.AUDIT:
            require_readable(session, rater)

    if not 1 <= most <= MOST_RATED:
        raise InputError(f"one job can ask about 1 to {MOST_RATED:,} pairs, not {most:,}")
    return request_apart(engine, project_id, RATE, most, purpose.value, check=check)


def request_apart(
    engine: Engine,
    project_id: int,
    kind: str,
    *arguments: object,
    right: Right = Right.CHANGE,
    check: Check | None = None,
) -> str:
    """Request a job that no other job of the project waits for; return its id.

    Raises InputError if one of its kind is open already, unless several people may ask for it at once, and Busy for too
    many of these.
    """
    with acting(engine, right, project_id) as session:
        if check is not None:
            check(session, project_id)
        job_id = _add_apart(session, project_id, kind)
    enqueue_workflow(engine, job_id, kind, project_id, *arguments)
    return job_id


def _add_apart(session: Session, project_id: int, kind: str) -> str:
    last = jobs.last_job(session, project_id, [kind]) if kind in BUSY else None
    if last is not None and last.state in jobs.OPEN:
        raise InputError(f"{BUSY[kind]}: wait until it is done, or cancel it")
    if kind in jobs.QUICK and (ahead := jobs.count_open(session, project_id, jobs.QUICK)) >= MOST_QUICK:
        raise Busy(
            f"{ahead} searches of this project wait already: wait for one of them, then ask again", RETRY_SECONDS
        )
    return jobs.add_job(session, project_id, kind).id


def request_matches(
    engine: Engine,
    project_id: int,
    number: int,
    threshold: float | None,
    reranker: str | None = None,
    grouping: Grouping = USUAL,
    keep: bool = True,
) -> str:
    """Request the job that finds all pairs at or above the threshold under this round's model, and their groups.

    Returns its id. threshold: None for the careful one of the score of texts without labels. reranker: the folder of
    one that orders them, relative to that of all pipeline runs. keep: make these the project's groups, with ids that
    stay. The job waits in the queue while another job runs. Raises InputError while the project's last one is open and
    for groups that it cannot make, and Refused for a re-ranker that the person may not use.
    """

    def check(session: Session, project_id: int) -> None:
        matcher = matcher_of(session, project_id, number)
        kind = Kind(project_of(session, project_id).kind)
        grouping.require_possible(kind, matcher is not None and matcher.w is not None)
        require_column(session, project_id, grouping.newest_by)
        if reranker is not None:
            require_models(session, str(runs_folder() / reranker))

    arguments = number, threshold, reranker, *grouping.words, keep
    return request_apart(engine, project_id, MATCHES, *arguments, check=check)


def update_groups(engine: Engine, project_id: int) -> str | None:
    """Request the search for matches that brings the groups up to date, if the project's settings ask for that.

    Returns its id, and None where nothing is to be done: a search that still waits will do. The groups are made as in
    their last update, under the newest matcher.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        arguments = asked_as_before(session, project_id)
        last = jobs.last_job(session, project_id, [MATCHES])
        if arguments is None or (last is not None and last.state == "waiting"):
            return None
        job_id = jobs.add_job(session, project_id, MATCHES).id
    enqueue_workflow(engine, job_id, MATCHES, project_id, *arguments)
    return job_id


def _request(
    engine: Engine, project_id: int, kind: str, arguments: tuple[object, ...], check: Check | None, joins: bool
) -> str:
    """Return the id of a new job; if it `joins`, that of the open job of its kind."""
    with acting(engine, Right.CHANGE, project_id) as session:
        job = jobs.open_job(session, project_id)
        if job is None:
            if check is not None:
                check(session, project_id)
            job = jobs.add_job(session, project_id, kind)
        elif job.kind != kind or not joins:
            raise InputError("another job is running: wait until it is done")
        job_id = job.id
    # Enqueueing an id twice makes one job, so if the app crashes before this line, the next joining call repairs it.
    enqueue_workflow(engine, job_id, kind, project_id, *arguments)
    return job_id


def require_no_audit_batch(session: Session, project_id: int) -> None:
    """Raise InputError while the project's newest audit batch has unlabelled pairs."""
    audit_batch = open_audit_batch(session, project_id)
    if audit_batch is not None:
        left = unanswered(session, audit_batch)
        problem = f"the last audit batch has {left} unlabelled pair{'s' if left > 1 else ''}"
        raise InputError(f"{problem}: label or drop them on the page “Label” first")


def why_not_train(engine: Engine, project_id: int) -> str:
    """Return why a round cannot be requested now, since it would learn nothing; empty if it can."""
    with reading(engine) as session:
        return why_no_training(session, project_id)


def _require_news(session: Session, project_id: int) -> None:
    if reason := why_no_training(session, project_id):
        raise InputError(reason)


def enqueue_workflow(engine: Engine, job_id: str, kind: str, project_id: int, *arguments: object) -> None:
    """Hand the job to the queue: a project's second search goes behind what others ask for, the third further."""
    with reading(engine) as session:
        queue = queue_of(kind, served_queues(session))  # workers move the job if that changes
        ahead = jobs.count_open(session, project_id, jobs.QUICK) - 1 if kind in jobs.QUICK else 0
    with closing_client() as client:
        options = {"queue_name": queue, "workflow_name": kind, "workflow_id": job_id}
        client.enqueue(options | ({"priority": ahead} if ahead > 0 else {}), project_id, *arguments)
