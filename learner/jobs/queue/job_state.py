"""The state of a job's row while its workflow runs."""

import logging
import math
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from dbos import DBOS
from dbos import error as dbos_error
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from allpairs.db.errors import Cancelled, InputError
from allpairs.db.files.logs import about
from allpairs.db.maintenance.error_messages import in_words
from allpairs.db.projects.jobs import fail_job
from allpairs.db.schema.engine import make_engine, reading, with_check, writing
from allpairs.db.schema.tables import Job, Project, now
from allpairs.learner.jobs.queue.ownership import JobRun, require_own_in, this_run
from allpairs.learner.jobs.queue.recovery import MOST_ATTEMPTS
from allpairs.learner.jobs.queue.routing import give_back, queue_tables
from allpairs.learner.jobs.queue.steps import will_pass

_NO_MEMORY = ("out of memory", "allocate memory")  # torch's words for a GPU, and for the CPU
PATIENCE = 60.0  # seconds to wait for an unreachable database
WAIT = 2.0  # seconds between two tries

Answer = TypeVar("Answer")
Work = TypeVar("Work", bound=Callable[..., str])

log = logging.getLogger(__name__)


@contextmanager
def database() -> Iterator[Engine]:
    """Yield the project database for the length of a step.

    A write raises DBOSWorkflowConflictIDError, and stores nothing, once another run has taken the step's job over.
    """
    engine = make_engine()
    run = this_run()
    try:
        yield engine if run is None else with_check(engine, partial(require_own_in, run=run))
    finally:
        engine.dispose()


def job_workflow(kind: str) -> Callable[[Work], Work]:
    """Return a decorator that makes a function the workflow of this kind of job, and leaves the function as it is.

    The function takes the job's id, the project's id and the arguments that were enqueued; it returns a summary.
    """

    def register(work: Work) -> Work:
        @DBOS.workflow(name=kind, max_recovery_attempts=MOST_ATTEMPTS)
        def run(project_id: int, *arguments: Any) -> str:
            job_id = str(DBOS.workflow_id)
            with job_state(job_id):
                return work(job_id, project_id, *arguments)

        return work

    return register


@contextmanager
def job_state(job_id: str) -> Iterator[None]:
    """Keep the row's state: running, then done, cancelled, or failed with one sentence and the traceback.

    Raises Cancelled before any work is done if the row is cancelled already, or missing because its project was
    deleted, archived or put into the bin while the job waited in the queue.
    """
    with about(job=job_id, project=_patiently(lambda: _project_of(job_id))), _outcome(job_id):
        _begin(job_id)
        log.info("job %s started", job_id)
        yield


@contextmanager
def _outcome(job_id: str) -> Iterator[None]:
    """Record in the row how the job ended."""
    try:
        yield
        _set(job_id, state="done", stage="", fraction=1.0, seconds_left=None)
    except (Cancelled, dbos_error.DBOSWorkflowCancelledError, dbos_error.DBOSWorkflowConflictIDError):
        _mark_cancelled(job_id)
        raise
    except Exception as error:
        if (run := this_run()) is not None and will_pass(error):  # steps wait themselves: the queue could not store one
            log.warning("job %s waits for the database", job_id)
            _patiently(lambda: _give_back(run), math.inf)
            raise dbos_error.DBOSWorkflowConflictIDError(job_id) from error
        log.error("job %s failed with %s: see the Jobs page", job_id, type(error).__name__)
        _patiently(partial(_fail_now, job_id, error_sentence(error), traceback.format_exc()))
        raise
    log.info("job %s is done", job_id)


def _project_of(job_id: str) -> int | None:
    """Return the id of the job's project, or None if it is gone."""
    with database() as engine, reading(engine) as session:
        job = session.get(Job, job_id)
        return None if job is None else job.project_id


def _begin(job_id: str) -> None:
    """Mark the row as running."""
    with database() as engine, writing(engine) as session:
        job = session.get(Job, job_id)
        project = session.get(Project, job.project_id) if job is not None else None
        if job is None or project is None:
            raise Cancelled(job_id)
        job.cancel |= project.archived_at is not None or project.deleted_at is not None
        starts = not job.cancel
        if starts:
            job.state = "running"
            job.error = None
            job.traceback = None
            job.updated_at = now()
    if not starts:
        raise Cancelled(job_id)


def error_sentence(error: Exception) -> str:
    if isinstance(error, dbos_error.DBOSMaxStepRetriesExceeded):
        error = error.errors[-1]
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY):
        return "The machine ran out of memory: use fewer neighbours or a smaller batch size, or a larger machine."
    if known := in_words(error):
        return known
    lines = str(error).splitlines() or ["no message"]
    return f"{type(error).__name__}: {lines[0]}"


def _set(job_id: str, **columns: object) -> None:
    """Set these values in the row, if it still exists."""
    _patiently(lambda: set_job_now(job_id, **columns))


def _give_back(run: JobRun) -> None:
    """Let the queue start the job again, after its last finished step."""
    with queue_tables() as queues:
        give_back(queues, *run)


def _patiently(ask: Callable[[], Answer], seconds: float | None = None) -> Answer:
    """Return the database's answer, waiting for a database that is away, locked or read-only."""
    end = time.monotonic() + (PATIENCE if seconds is None else seconds)
    while True:
        try:
            return ask()
        except DBAPIError as error:
            if time.monotonic() > end or not will_pass(error):
                raise
            time.sleep(WAIT)


def set_job_now(job_id: str, **columns: object) -> None:
    with database() as engine, writing(engine) as session:
        job = session.get(Job, job_id)
        if job is None:  # the project was deleted meanwhile
            return
        for name, value in columns.items():
            setattr(job, name, value)
        job.updated_at = now()


def _fail_now(job_id: str, error: str, trace: str) -> None:
    with database() as engine, writing(engine) as session:
        job = session.get(Job, job_id)
        if job is not None:
            fail_job(session, job, error, trace)


def _mark_cancelled(job_id: str) -> None:
    """Mark the row as cancelled, if a person cancelled the job."""
    with database() as engine, writing(engine) as session:
        job = session.get(Job, job_id)
        # The queue's conflict error can also mean that another worker took the job over: then the row is that worker's.
        if job is not None and job.cancel:
            job.state = "cancelled"
            job.stage = ""
            job.updated_at = now()


def folder_of(project_id: int, job_id: str) -> str:
    """Return the job's folder below the artifact folder."""
    return f"project-{project_id}/{job_id}"
