"""How far a job is that changes nothing in its project: a preview, a preparation, a search."""

from dataclasses import dataclass

from sqlalchemy import Engine

from allpairs.db.projects.jobs import last_job, live_workers
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job


@dataclass(frozen=True)
class JobProgress:
    """A job that changes nothing in its project, and whether a worker is alive."""

    job: Job | None
    has_worker: bool


def job_progress(engine: Engine, project_id: int, kind: str) -> JobProgress:
    """Return the progress of the project's newest job of this kind."""
    with reading(engine) as session:
        return JobProgress(last_job(session, project_id, [kind]), bool(live_workers(session)))
