"""Jobs as the app sees them: asked for, watched, cancelled. The worker does them.

No job can be asked for on a project that is archived or in the bin: that is an InputError.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Any

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from annotate.access.roles import Right
from annotate.access.transactions import acting
from db.domain import Settings
from db.errors import InputError
from db.labels.answers import answered_since
from db.labels.tasks import newest_round, open_audit_batch, unanswered
from db.projects import jobs
from db.projects.jobs import (
    AUDIT,
    CORRECTION,
    EXPERIMENT,
    EXPLORE,
    MATCHES,
    NEXT_ROUND,
    OPINIONS,
    PIPELINE,
    PREVIEW,
    SEARCH,
    SUGGEST,
)
from db.projects.projects import live_project
from db.projects.queues import queue_of, served_queues
from db.schema.engine import jobs_url, reading
from db.schema.tables import Job, Worker

Check = Callable[[Session, int], None]  # (session, project): raises InputError where the job has nothing to do


def request_round(engine: Engine, project_id: int) -> str:
    """The id of the job that trains and makes the next batch: the open one, else a new one.

    Raises InputError while nothing of the newest batch has been answered, and while another kind of job is at work.
    """
    return _request(engine, project_id, NEXT_ROUND, (), _require_news, joins=True)


def request_audit(engine: Engine, project_id: int, draw: int) -> str:
    """The id of the job that draws this many pairs as an audit audit batch and brings the figures up to date.

    With `draw` 0 it only does the latter, and one that is open already is as good. Raises InputError while another job
    is at work and, where pairs are to be drawn, while an audit batch is open.
    """
    return _request(engine, project_id, AUDIT, (draw,), require_no_audit_batch if draw else _no_check, joins=not draw)


def request_correction(engine: Engine, project_id: int, number: int, recall: float, draw: int) -> str:
    """The id of the job that draws this many putative false positives from each stratum, for the matcher of this number
    at this recall, and brings the corrected figures up to date; with `draw` 0 it only does the latter.

    Raises InputError while a job is at work and, where pairs are to be drawn, while an audit batch is open.
    """
    check = require_no_audit_batch if draw else _no_check
    return _request(engine, project_id, CORRECTION, (number, recall, draw), check, joins=False)


def request_preview(engine: Engine, project_id: int, settings: Settings) -> str:
    """The id of the job that chooses some pairs as the next batch would, under these settings; nothing is changed.

    It waits in the queue while another job is at work. Raises InputError while another preview is being made.
    """
    return _request_apart(engine, project_id, PREVIEW, "a preview is being made", settings.model_dump())


def request_experiment(engine: Engine, project_id: int, definition: dict[str, Any]) -> str:
    """The id of the job that runs this experiment on the project's data; no other job of the project waits for it.

    definition: as in an experiment's file, without data sets. Raises InputError while another one of the project runs.
    """
    return _request_apart(engine, project_id, EXPERIMENT, "an experiment on this project is at work", definition)


def request_pipeline(engine: Engine, project_id: int, name: str, config: dict[str, Any], chosen: dict[str, Any]) -> str:
    """The id of the job that runs this pipeline on the project's data; no other job of the project waits for it.

    config, chosen: its configuration, and what it begins with, as in the catalog. Raises InputError while another one
    of the project runs.
    """
    busy = "a pipeline on this project is at work"
    return _request_apart(engine, project_id, PIPELINE, busy, name, config, chosen)


def request_exploration(engine: Engine, project_id: int, number: int) -> str:
    """The id of the job that prepares the matcher of this number for exploring; nothing of the project changes.

    Raises InputError while another one is being prepared.
    """
    return _request_apart(engine, project_id, EXPLORE, "a round is being prepared", number, right=Right.SEE)


def request_search(engine: Engine, project_id: int, number: int, text: str, item_id: int | None, of_left: bool) -> str:
    """The id of the job that searches for the nearest items of a text, or of an item, under the matcher of this number.

    of_left: in which list the text stands. Several people may search at once.
    """
    return _request_apart(engine, project_id, SEARCH, "", number, text, item_id, of_left, right=Right.SEE)


def request_suggestions(engine: Engine, project_id: int, run_id: str, number: int, item_id: int, n: int) -> str:
    """The id of the job that has the generator which this run made ask n questions about an item.

    number: its place among what the run made. Several people may ask at once.
    """
    return _request_apart(engine, project_id, SUGGEST, "", run_id, number, item_id, n)


def request_opinions(engine: Engine, project_id: int, run_id: str, number: int, texts: list[str], prompt: str) -> str:
    """The id of the job that has the encoder which this run made tell what these texts think, and why.

    number: its place among what the run made; prompt: both questions, as in the configuration. Several people may ask
    at once.
    """
    return _request_apart(engine, project_id, OPINIONS, "", run_id, number, texts, prompt)


def _request_apart(
    engine: Engine, project_id: int, kind: str, busy: str, *arguments: object, right: Right = Right.CHANGE
) -> str:
    """The id of a new job that no other job of the project waits for; `busy` says why there cannot be two, if so."""
    with acting(engine, right, project_id) as session:
        live_project(session, project_id)
        last = jobs.last_job(session, project_id, [kind]) if busy else None
        if last is not None and last.state in jobs.OPEN:
            raise InputError(f"{busy}: wait until it is done, or cancel it")
        job_id = jobs.add_job(session, project_id, kind).id
    _enqueue(engine, job_id, kind, project_id, *arguments)
    return job_id


def request_matches(engine: Engine, project_id: int, number: int, threshold: float, reranker: str | None = None) -> str:
    """The id of the job that finds all pairs at or above the threshold under the model of this round, and their groups.

    reranker: the folder of one that puts them in order, below that of all runs of pipelines. The job waits in the queue
    while another job is at work. Raises InputError while the project's last one is not done.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        last = jobs.last_job(session, project_id, [MATCHES])
        if last is not None and last.state in jobs.OPEN:
            raise InputError("matches are being searched: wait until that is done, or cancel it")
        job_id = jobs.add_job(session, project_id, MATCHES).id
    _enqueue(engine, job_id, MATCHES, project_id, number, threshold, reranker)
    return job_id


def _request(
    engine: Engine, project_id: int, kind: str, arguments: tuple[object, ...], check: Check, joins: bool
) -> str:
    """The id of a new job, or where it `joins` that of the open one of its kind."""
    with acting(engine, Right.CHANGE, project_id) as session:
        live_project(session, project_id)
        job = jobs.open_job(session, project_id)
        if job is None:
            check(session, project_id)
            job = jobs.add_job(session, project_id, kind)
        elif job.kind != kind or not joins:
            raise InputError("a job is at work: wait until it is done")
        job_id = job.id
    # The same id twice is one job, so a crash before this line heals where the next call joins.
    _enqueue(engine, job_id, kind, project_id, *arguments)
    return job_id


def _no_check(session: Session, project_id: int) -> None:
    """Nothing: there is always something to do."""


def require_no_audit_batch(session: Session, project_id: int) -> None:
    """Nothing. Raises InputError while the project's newest audit batch has pairs that nobody has labelled."""
    audit_batch = open_audit_batch(session, project_id)
    if audit_batch is not None:
        left = unanswered(session, audit_batch)
        what = f"the last audit batch has {left} pair{'s' if left > 1 else ''} left"
        raise InputError(f"{what}: label or drop them on the page “Label” first")


def _require_news(session: Session, project_id: int) -> None:
    last = jobs.last_job(session, project_id, [NEXT_ROUND])
    if last is None or last.state != "done" or answered_since(session, project_id, last.created_at):
        return
    newest = newest_round(session, project_id)
    what = f"nothing has been answered since batch {newest.number} was asked for" if newest else "nothing is answered"
    raise InputError(f"{what}: label some pairs first")


def _enqueue(engine: Engine, job_id: str, kind: str, *arguments: object) -> None:
    with reading(engine) as session:
        queue = queue_of(kind, served_queues(session))  # workers move it where that changes
    with closing_client() as client:
        client.enqueue({"queue_name": queue, "workflow_name": kind, "workflow_id": job_id}, *arguments)


def closing_client() -> Any:
    """A context with a client of the job queue; its tables are made where they are missing."""
    return closing(_Client())


class _Client(DBOSClient):
    def __init__(self) -> None:
        DBOS.migrate(jobs_url())
        super().__init__(system_database_url=jobs_url(), serializer=DBOSPortableJSONSerializer())

    close = DBOSClient.destroy


def cancel(engine: Engine, job_id: str) -> None:
    """Nothing; the job is cancelled at once where it waits, within seconds where it runs."""
    with reading(engine) as session:
        found = session.get(Job, job_id)
    if found is None:
        return
    with acting(engine, Right.CHANGE, found.project_id) as session:
        job = session.get(Job, job_id)
        if job is None or job.state not in jobs.OPEN:
            return
        job.cancel, job.state = True, "cancelled"
    with closing_client() as client:
        client.cancel_workflow(job_id)


def newest_job(engine: Engine, project_id: int) -> Job | None:
    """The project's newest job; those that change nothing are not among them."""
    with reading(engine) as session:
        return jobs.newest_job(session, project_id)


def list_jobs(engine: Engine, project_id: int, limit: int | None = None) -> list[Job]:
    """The project's jobs, the newest first; all of them, or so many."""
    with reading(engine) as session:
        return jobs.list_jobs(session, project_id, limit)


def find_job(engine: Engine, project_id: int, job_id: str) -> Job | None:
    """The project's job of this id."""
    with reading(engine) as session:
        found = session.get(Job, job_id)
    return found if found is not None and found.project_id == project_id else None


def workers(engine: Engine) -> list[Worker]:
    """The workers that are alive."""
    with reading(engine) as session:
        return jobs.live_workers(session)


def worker_alive(engine: Engine) -> bool:
    """Whether any worker is alive."""
    return bool(workers(engine))
