"""Job rows and workers: what pages show of work that DBOS owns."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import delete, select, update
from sqlalchemy.orm import Session

from db.domain import Queue
from db.schema.tables import Job, Worker, now

OPEN = ("waiting", "running")
NEXT_ROUND, AUDIT, CORRECTION = "next_round", "audit", "correction"
PREVIEW, EXPERIMENT, EXPLORE, SEARCH, MATCHES = "preview", "experiment", "explore", "search", "matches"
PIPELINE, SUGGEST, OPINIONS = "pipeline", "suggest", "opinions"
# Kinds of job that change nothing of their project: no other job need wait for them.
APART = (PREVIEW, EXPERIMENT, EXPLORE, SEARCH, MATCHES, PIPELINE, SUGGEST, OPINIONS)
ALIVE = timedelta(seconds=15)  # a worker reports every two seconds; a busy machine may hold it up


def open_job(session: Session, project_id: int) -> Job | None:
    """The project's job that is waiting or running; those that change nothing are not among them."""
    at_work = (Job.project_id == project_id, Job.state.in_(OPEN), Job.kind.not_in(APART))
    return session.scalar(select(Job).where(*at_work).limit(1))


def newest_job(session: Session, project_id: int) -> Job | None:
    """The project's newest job; those that change nothing are not among them."""
    wanted = select(Job).where(Job.project_id == project_id, Job.kind.not_in(APART))
    return session.scalar(wanted.order_by(Job.created_at.desc()).limit(1))


def add_job(session: Session, project_id: int, kind: str) -> Job:
    """A new waiting job, with an id that no job ever had: the queue takes the same id for the same job."""
    job = Job(id=f"{kind}-{project_id}-{uuid4().hex[:12]}", project_id=project_id, kind=kind)
    session.add(job)
    return job


def stop_jobs(session: Session, project_id: int) -> None:
    """Nothing; none of the project's jobs is waiting or running: a worker that is at one ends it within seconds."""
    open_jobs = update(Job).where(Job.project_id == project_id, Job.state.in_(OPEN))
    session.execute(open_jobs.values(cancel=True, state="cancelled", updated_at=now()))


def list_jobs(session: Session, project_id: int, limit: int | None = None) -> list[Job]:
    """The project's jobs, the newest first; all of them, or so many."""
    mine = select(Job).where(Job.project_id == project_id).order_by(Job.created_at.desc())
    return list(session.scalars(mine.limit(limit)))


def jobs_of_kind(session: Session, kind: str) -> list[Job]:
    """All projects' jobs of this kind, the newest first."""
    return list(session.scalars(select(Job).where(Job.kind == kind).order_by(Job.created_at.desc())))


def last_job(session: Session, project_id: int, kinds: Collection[str]) -> Job | None:
    """The newest of the project's jobs of these kinds."""
    wanted = select(Job).where(Job.project_id == project_id, Job.kind.in_(kinds))
    return session.scalar(wanted.order_by(Job.created_at.desc()).limit(1))


def live_workers(session: Session) -> list[Worker]:
    """Workers heard of in the last 15 seconds."""
    return list(session.scalars(select(Worker).where(Worker.seen_at > now() - ALIVE)))


def heard_of(session: Session, executor_id: str) -> datetime | None:
    """When the worker of this name was last heard of; nothing where there is none."""
    return session.scalar(select(Worker.seen_at).where(Worker.executor_id == executor_id))


def report_worker(
    session: Session, executor_id: str, host: str, pid: int, device: str, queue: Queue | None = None
) -> None:
    """Nothing; the worker has been heard of now. queue: whose jobs it takes, without one none yet."""
    session.merge(Worker(executor_id=executor_id, host=host, pid=pid, device=device, queue=queue, seen_at=now()))


def remove_worker(session: Session, executor_id: str, pid: int) -> None:
    """Nothing; this process is no longer listed, unless another one has its name by now."""
    session.execute(delete(Worker).where(Worker.executor_id == executor_id, Worker.pid == pid))
