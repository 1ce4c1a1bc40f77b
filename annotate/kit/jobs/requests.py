"""Jobs as the app sees them: requested, watched, cancelled. The worker runs them.

Requesting a job on a project that is archived or in the bin raises InputError.
"""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import project_for, require_models, require_new_models
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.jobs.training_news import why_no_training
from allpairs.db.domain import Kind, Settings
from allpairs.db.errors import Busy, InputError
from allpairs.db.labels.tasks import open_audit_batch, unanswered
from allpairs.db.projects import jobs, queues
from allpairs.db.projects.items import item_of
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
    SEARCH,
    SUGGEST,
    run_of,
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
from allpairs.db.schema.engine import as_system, reading
from allpairs.db.schema.tables import Job, Worker
from allpairs.learner.light.groups.grouping import USUAL, Grouping

MOST_RATED = 100_000  # pairs that one job asks about
# open searches of a project, and the like; seconds after which to ask again
MOST_QUICK = 10
AGAIN = 5

# (session, project): raises InputError if the job would have nothing to do, or names what the person may not use
Check = Callable[[Session, int], object]


def _no_check(session: Session, project_id: int) -> None:
    """Accept: there is always something to do."""


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
    return _request(engine, project_id, AUDIT, (draw,), require_no_audit_batch if draw else _no_check, joins=not draw)


def request_entities(engine: Engine, project_id: int, draw: int) -> str:
    """Request the job that draws this many texts for the entity audit and measures the groups; return its id.

    With `draw` 0 it only measures. Raises InputError as `request_audit`.
    """
    check = require_no_audit_batch if draw else _no_check
    return _request(engine, project_id, ENTITIES, (draw,), check, joins=not draw)


def request_correction(engine: Engine, project_id: int, number: int, recall: float, draw: int) -> str:
    """Request the job that samples this many putative false positives from each stratum; return its id.

    They are sampled for the matcher of this number at this recall, and the corrected figures are updated; with `draw` 0
    only the latter. Raises InputError while a job is open and, if pairs are to be drawn, while an audit batch is open.
    """
    check = require_no_audit_batch if draw else _no_check
    return _request(engine, project_id, CORRECTION, (number, recall, draw), check, joins=False)


def request_preview(engine: Engine, project_id: int, settings: Settings) -> str:
    """Request the job that previews a batch under these settings; return its id. It changes nothing.

    It waits in the queue while another job runs. Raises InputError while another preview is open, and Refused for new
    models that the person may not use.
    """

    def check(session: Session, project_id: int) -> None:
        require_new_models(session, settings, project_of(session, project_id).settings)

    return _request_apart(engine, project_id, PREVIEW, "a preview is being made", settings.model_dump(), check=check)


def request_experiment(engine: Engine, project_id: int, definition: dict[str, Any]) -> str:
    """Request the job that runs this experiment on the project's data; return its id. No other job waits for it.

    definition: as in an experiment's file, without data sets. Raises InputError while the project's last one is open.
    """
    return _request_apart(engine, project_id, EXPERIMENT, "an experiment on this project is running", definition)


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
        job_id = _add_apart(session, project_id, PIPELINE, "a pipeline on this project is running")
    enqueue_workflow(engine, job_id, PIPELINE, project_id, name, config, chosen)
    return job_id


def request_exploration(engine: Engine, project_id: int, number: int) -> str:
    """Request the job that prepares the matcher of this number for exploring; return its id. It changes nothing.

    Raises InputError while another one is being prepared.
    """
    return _request_apart(engine, project_id, EXPLORE, "a round is being prepared", number, right=Right.SEE)


def request_search(engine: Engine, project_id: int, number: int, text: str, item_id: int | None, of_left: bool) -> str:
    """Request the search for the nearest items of a text or an item under the matcher of this number; return its id.

    of_left: whether the text belongs to the left list. Several people may search at once. Raises InputError for an item
    of another project.
    """
    check = _no_check if item_id is None else partial(item_of, item_id=item_id)
    asked = (number, text, item_id, of_left)
    return _request_apart(engine, project_id, SEARCH, "", *asked, right=Right.SEE, check=check)


def request_suggestions(engine: Engine, project_id: int, run_id: str, number: int, item_id: int, n: int) -> str:
    """Request the job in which a run's generator asks n questions about an item; return its id.

    number: the generator's place in the run's outputs. Several people may ask at once. Raises InputError if the run or
    the item belongs to another project.
    """

    def check(session: Session, project_id: int) -> None:
        run_of(session, project_id, run_id)
        item_of(session, project_id, item_id)

    return _request_apart(engine, project_id, SUGGEST, "", run_id, number, item_id, n, check=check)


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
    busy = "the machine rater is being asked already"
    return _request_apart(engine, project_id, RATE, busy, most, purpose.value, check=check)


def _request_apart(
    engine: Engine,
    project_id: int,
    kind: str,
    busy: str,
    *arguments: object,
    right: Right = Right.CHANGE,
    check: Check = _no_check,
) -> str:
    """Add a job that no other job of the project waits for; return its id. busy: the error if one is open already."""
    with acting(engine, right, project_id) as session:
        check(session, project_id)
        job_id = _add_apart(session, project_id, kind, busy)
    enqueue_workflow(engine, job_id, kind, project_id, *arguments)
    return job_id


def _add_apart(session: Session, project_id: int, kind: str, busy: str) -> str:
    last = jobs.last_job(session, project_id, [kind]) if busy else None
    if last is not None and last.state in jobs.OPEN:
        raise InputError(f"{busy}: wait until it is done, or cancel it")
    if not busy and (ahead := jobs.count_open(session, project_id, jobs.QUICK)) >= MOST_QUICK:
        raise Busy(f"{ahead} searches of this project wait already: wait for one of them, then ask again", AGAIN)
    return jobs.add_job(session, project_id, kind).id


def request_matches(
    engine: Engine,
    project_id: int,
    number: int,
    threshold: float,
    reranker: str | None = None,
    grouping: Grouping = USUAL,
    keep: bool = True,
) -> str:
    """Request the job that finds all pairs at or above the threshold under this round's model, and their groups.

    Returns its id. reranker: the folder of one that orders them, relative to that of all pipeline runs. keep: make
    these the project's groups, with ids that stay. The job waits in the queue while another job runs. Raises InputError
    while the project's last one is open and for groups that it cannot make, and Refused for a re-ranker that the person
    may not use.
    """

    def check(session: Session, project_id: int) -> None:
        matcher = matcher_of(session, project_id, number)
        kind = Kind(project_of(session, project_id).kind)
        grouping.require_possible(kind, matcher is not None and matcher.w is not None)
        require_column(session, project_id, grouping.newest_by)
        if reranker is not None:
            require_models(session, str(runs_folder() / reranker))

    busy = "a search for matches is already running"
    arguments = number, threshold, reranker, *grouping.words, keep
    return _request_apart(engine, project_id, MATCHES, busy, *arguments, check=check)


def update_groups(engine: Engine, project_id: int) -> str | None:
    """Request the search for matches that brings the groups up to date, if the project's settings ask for that.

    Returns its id, and None where nothing is to be done: a search that still waits will do. The groups are made as in
    their last update, under the newest matcher.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        asked = asked_as_before(session, project_id)
        last = jobs.last_job(session, project_id, [MATCHES])
        if asked is None or (last is not None and last.state == "waiting"):
            return None
        job_id = jobs.add_job(session, project_id, MATCHES).id
    enqueue_workflow(engine, job_id, MATCHES, project_id, *asked)
    return job_id


def _request(
    engine: Engine, project_id: int, kind: str, arguments: tuple[object, ...], check: Check, joins: bool
) -> str:
    """Return the id of a new job; if it `joins`, that of the open job of its kind."""
    with acting(engine, Right.CHANGE, project_id) as session:
        job = jobs.open_job(session, project_id)
        if job is None:
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
        what = f"the last audit batch has {left} unlabelled pair{'s' if left > 1 else ''}"
        raise InputError(f"{what}: label or drop them on the page “Label” first")


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


def closing_client() -> Any:
    """Return a context with a client of the job queue; missing queue tables are created."""
    from allpairs.annotate.kit.jobs.queue_client import QueueClient

    return closing(QueueClient())


def cancel(engine: Engine, job_id: str) -> None:
    """Cancel the job: at once if it waits, within seconds if it runs."""
    with reading(engine) as session:
        found = session.get(Job, job_id)
    if found is None:
        return
    with acting(engine, Right.CHANGE, found.project_id, put_away=True) as session:
        job = session.get(Job, job_id)
        if job is None or job.state not in jobs.OPEN:
            return
        job.cancel = True
        job.state = "cancelled"
    with closing_client() as client:
        client.cancel_workflow(job_id)


def forget(job_ids: Sequence[str]) -> None:
    """Remove the jobs from the queue with their arguments, among which are texts that people typed."""
    if job_ids:
        with closing_client() as client:
            client.delete_workflows(list(job_ids))


def newest_job(engine: Engine, project_id: int) -> Job | None:
    """Return the project's newest job, not counting those that change nothing."""
    with reading(engine) as session:
        return jobs.newest_job(session, project_id)


def list_jobs(engine: Engine, project_id: int, limit: int | None = None) -> list[Job]:
    """Return the project's jobs, the newest first, up to the limit."""
    with reading(engine) as session:
        return jobs.jobs_of_project(session, project_id, limit)


def find_job(engine: Engine, project_id: int, job_id: str) -> Job | None:
    """Return the project's job of this id, or None."""
    with reading(engine) as session:
        return jobs.job_of(session, project_id, job_id)


def job_ahead(engine: Engine, job: Job) -> tuple[Job, str] | None:
    """Return the running job that a waiting job waits for, and the name of its project, whoever may see that.

    None if it waits for a worker alone.
    """
    with reading(as_system(engine)) as session:  # it may be of a project that the person may not see
        ahead = queues.job_ahead(session, job)
        return None if ahead is None else (ahead, project_of(session, ahead.project_id).name)


def workers(engine: Engine) -> list[Worker]:
    """Return the workers that are alive."""
    with reading(engine) as session:
        return jobs.live_workers(session)


def worker_alive(engine: Engine) -> bool:
    """Return whether any worker is alive."""
    return bool(workers(engine))
