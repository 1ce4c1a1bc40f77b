"""Jobs as the app sees them: listed, watched, cancelled. The worker runs them."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.projects import jobs, queues
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import as_system, reading
from allpairs.db.schema.tables import Job, Worker


@dataclass(frozen=True)
class JobProgress:
    """A job that changes nothing in its project, and whether a worker is alive."""

    job: Job | None
    has_worker: bool


def newest_progress(engine: Engine, project_id: int, kind: str) -> JobProgress:
    """Return the progress of the project's newest job of this kind."""
    with reading(engine) as session:
        return JobProgress(jobs.last_job(session, project_id, [kind]), bool(jobs.live_workers(session)))


def job_progress(engine: Engine, project_id: int, job_id: str) -> JobProgress:
    """Return the progress of the project's job of this id."""
    with reading(engine) as session:
        return JobProgress(jobs.job_of(session, project_id, job_id), bool(jobs.live_workers(session)))


def closing_client() -> Any:
    """Return a context with a client of the job queue; missing queue tables are created."""
    from allpairs.annotate.kit.jobs.queue_client import QueueClient

    return closing(QueueClient())


def cancel(engine: Engine, job_id: str) -> None:
    """Cancel the job: at once if it waits, within seconds if it runs."""
    with reading(engine) as session:
        row = session.get(Job, job_id)
    if row is None:
        return
    with acting(engine, Right.CHANGE, row.project_id, put_away=True) as session:
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


def read_newest_job(engine: Engine, project_id: int) -> Job | None:
    """Return the project's newest job, not counting those that change nothing."""
    with reading(engine) as session:
        return jobs.newest_job(session, project_id)


def read_jobs(engine: Engine, project_id: int, limit: int | None = None) -> list[Job]:
    """Return the project's jobs, the newest first, up to the limit."""
    with reading(engine) as session:
        return jobs.jobs_of_project(session, project_id, limit)


def find_job(engine: Engine, project_id: int, job_id: str) -> Job | None:
    """Return the project's job of this id, or None."""
    with reading(engine) as session:
        return jobs.job_of(session, project_id, job_id)


def read_job_ahead(engine: Engine, job: Job) -> tuple[Job, str] | None:
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
