"""Which queue a job waits in: it depends on the kind of job and on the live workers."""

from collections.abc import Collection

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import Queue
from allpairs.db.projects.jobs import AUDIT, ENTITIES, EXPERIMENT, PIPELINE, PREVIEW, RATE, SEARCH, live_workers
from allpairs.db.schema.tables import Job

# Jobs that train nothing and rarely encode a list of texts: they read labels and stored vectors, or ask a rater.
LIGHT = (AUDIT, ENTITIES, PREVIEW, RATE, SEARCH)
LONG = (PIPELINE, EXPERIMENT, RATE)  # may take hours; between two of their parts, waiting jobs of other kinds go first


def queue_of(kind: str, served: Collection[Queue]) -> Queue:
    """Return the queue for a job of this kind: its own, unless live workers serve only the other one."""
    own_queue = Queue.CPU if kind in LIGHT else Queue.GPU
    return own_queue if own_queue in served or not served else next(iter(served))


def served_queues(session: Session) -> set[Queue]:
    """Return the queues that live workers serve."""
    return {Queue(worker.queue) for worker in live_workers(session) if worker.queue is not None}


def job_ahead(session: Session, job: Job) -> Job | None:
    """Return the running job, of any project, that this waiting one waits for: in its queue, the first to end."""
    served = served_queues(session)
    running = session.scalars(select(Job).where(Job.state == "running", Job.id != job.id)).all()
    queue = queue_of(job.kind, served)
    rivals = [running_job for running_job in running if queue_of(running_job.kind, served) == queue]
    return min(rivals, key=_time_left, default=None)


def _time_left(job: Job) -> tuple[bool, float]:
    """Return what orders jobs by the time that they still take; unknown times come last."""
    return job.seconds_left is None, job.seconds_left or 0.0
