"""Job rows and workers: what pages show of jobs that DBOS runs."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import NoticeKind, Queue
from allpairs.db.errors import InputError, without_places
from allpairs.db.projects.notices import add_notice
from allpairs.db.schema.tables import Job, Worker, now

OPEN = ("waiting", "running")
NEXT_ROUND = "next_round"
AUDIT = "audit"
CORRECTION = "correction"
ENTITIES = "entities"
PREVIEW = "preview"
EXPERIMENT = "experiment"
EXPLORE = "explore"
SEARCH = "search"
MATCHES = "matches"
PIPELINE = "pipeline"
SUGGEST = "suggest"
RATE = "rate"
# Kinds of job that change nothing in their project that another job reads, so that none needs to wait for them.
INDEPENDENT = (PREVIEW, EXPERIMENT, EXPLORE, SEARCH, MATCHES, PIPELINE, SUGGEST, RATE)
QUICK = (SEARCH, SUGGEST)  # of which a project may have several open: somebody waits for each
STARTING = "starting"  # the device of a worker that does not take jobs yet
ALIVE = timedelta(seconds=15)  # a worker reports every two seconds, but a busy machine may delay it


def open_job(session: Session, project_id: int) -> Job | None:
    """Return the project's waiting or running job, not counting those that change nothing."""
    at_work = (Job.project_id == project_id, Job.state.in_(OPEN), Job.kind.not_in(INDEPENDENT))
    return session.scalar(select(Job).where(*at_work).limit(1))


def count_open(session: Session, project_id: int, kinds: Collection[str]) -> int:
    """Return how many of the project's jobs of these kinds wait or run."""
    at_work = (Job.project_id == project_id, Job.state.in_(OPEN), Job.kind.in_(kinds))
    return session.scalar(select(func.count()).select_from(Job).where(*at_work)) or 0


def newest_job(session: Session, project_id: int) -> Job | None:
    """Return the project's newest job, not counting those that change nothing."""
    query = select(Job).where(Job.project_id == project_id, Job.kind.not_in(INDEPENDENT))
    return session.scalar(query.order_by(Job.created_at.desc()).limit(1))


def add_job(session: Session, project_id: int, kind: str) -> Job:
    """Add a waiting job, with a new id that it shares with the queue."""
    job = Job(id=f"{kind}-{project_id}-{uuid4().hex[:12]}", project_id=project_id, kind=kind)
    session.add(job)
    return job


def stop_jobs(session: Session, project_id: int) -> None:
    """Cancel the project's waiting and running jobs: a worker stops within seconds."""
    open_jobs = update(Job).where(Job.project_id == project_id, Job.state.in_(OPEN))
    session.execute(open_jobs.values(cancel=True, state="cancelled", updated_at=now()))


def fail_job(session: Session, job: Job, error: str, traceback: str | None = None) -> None:
    """Mark the job as failed, with a sentence that says why; of a round, tell the project's webhooks."""
    job.state = "failed"
    job.error = error
    job.traceback = traceback
    job.updated_at = now()
    if job.kind == NEXT_ROUND:
        details = {"job": job.id, "error": without_places(error)}
        add_notice(session, job.project_id, NoticeKind.TRAINING_FAILED, details, key=f"{job.id}-failed")


def jobs_of_project(session: Session, project_id: int, limit: int | None = None) -> list[Job]:
    """Return the project's jobs, the newest first, up to the limit."""
    query = select(Job).where(Job.project_id == project_id).order_by(Job.created_at.desc())
    return list(session.scalars(query.limit(limit)))


def jobs_of_kind(session: Session, kind: str) -> list[Job]:
    """Return all projects' jobs of this kind, the newest first."""
    return list(session.scalars(select(Job).where(Job.kind == kind).order_by(Job.created_at.desc())))


def job_of(session: Session, project_id: int, job_id: str) -> Job | None:
    """Return the project's job of this id; None if it has no such job."""
    job = session.get(Job, job_id)
    return job if job is not None and job.project_id == project_id else None


def run_of(session: Session, project_id: int, run_id: str) -> Job:
    """Return the job of the pipeline's run. Raises InputError if the project has no such run."""
    job = job_of(session, project_id, run_id)
    if job is None or job.kind != PIPELINE:
        raise InputError(f"this project has no run {run_id}: reload the page “Pipelines”")
    return job


def last_job(session: Session, project_id: int, kinds: Collection[str]) -> Job | None:
    """Return the newest of the project's jobs of these kinds."""
    query = select(Job).where(Job.project_id == project_id, Job.kind.in_(kinds))
    return session.scalar(query.order_by(Job.created_at.desc()).limit(1))


def live_workers(session: Session) -> list[Worker]:
    """Return the workers that have reported in the last 15 seconds."""
    return list(session.scalars(select(Worker).where(Worker.seen_at > now() - ALIVE)))


def heard_of(session: Session, executor_id: str) -> datetime | None:
    """Return when the worker of this name last reported; None if there is none."""
    return session.scalar(select(Worker.seen_at).where(Worker.executor_id == executor_id))


def report_worker(
    session: Session, executor_id: str, host: str, pid: int, device: str, queue: Queue | None = None
) -> None:
    """Record that the worker has just reported. queue: whose jobs it takes; None: none yet."""
    session.merge(Worker(executor_id=executor_id, host=host, pid=pid, device=device, queue=queue, seen_at=now()))


def remove_worker(session: Session, executor_id: str, pid: int) -> None:
    """Remove this process from the list of workers, unless another one now has its name."""
    session.execute(delete(Worker).where(Worker.executor_id == executor_id, Worker.pid == pid))
