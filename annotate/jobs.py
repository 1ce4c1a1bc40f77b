"""Jobs as the app sees them: asked for, watched, cancelled. The worker does them."""

from contextlib import closing
from typing import Any

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from db import jobs
from db.answers import answered_since
from db.domain import InputError
from db.engine import jobs_url, reading, writing
from db.models import Job, Worker
from db.tasks import newest_round

QUEUE, NEXT_ROUND = "jobs", "next_round"  # the worker registers both under these names


def request_round(engine: Engine, project_id: int) -> str:
    """The id of the job that trains and makes the next batch: the open one, else a new one.

    Raises InputError while nothing of the newest batch has been answered.
    """
    with writing(engine) as session:
        job = jobs.open_job(session, project_id)
        if job is None:
            _require_news(session, project_id)
            job = jobs.add_job(session, project_id, NEXT_ROUND)
        job_id = job.id
    _enqueue(job_id, project_id)  # the same id twice is one job, so a crash before this line heals at the next call
    return job_id


def _require_news(session: Session, project_id: int) -> None:
    last = next(iter(jobs.list_jobs(session, project_id)), None)
    if last is None or last.state != "done" or answered_since(session, project_id, last.created_at):
        return
    newest = newest_round(session, project_id)
    what = f"nothing has been answered since batch {newest.number} was asked for" if newest else "nothing is answered"
    raise InputError(f"{what}: label some pairs first")


def _enqueue(job_id: str, project_id: int) -> None:
    with closing_client() as client:
        client.enqueue({"queue_name": QUEUE, "workflow_name": NEXT_ROUND, "workflow_id": job_id}, project_id)


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
    with writing(engine) as session:
        job = session.get(Job, job_id)
        if job is None or job.state not in jobs.OPEN:
            return
        job.cancel, job.state = True, "cancelled"
    with closing_client() as client:
        client.cancel_workflow(job_id)


def list_jobs(engine: Engine, project_id: int) -> list[Job]:
    """The project's jobs, the newest first."""
    with reading(engine) as session:
        return jobs.list_jobs(session, project_id)


def workers(engine: Engine) -> list[Worker]:
    """The workers that are alive."""
    with reading(engine) as session:
        return jobs.live_workers(session)


def worker_alive(engine: Engine) -> bool:
    """Whether any worker is alive."""
    return bool(workers(engine))
