"""Choose the queue of each waiting job as workers come and go.

The queue's own methods do not fit: `DBOS.resume_workflow` ignores the state, so that a job which was just taken would
run twice; and its listing waits for an unreachable database, while a worker must keep reporting itself.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    TableClause,
    column,
    create_engine,
    select,
    table,
    update,
)

from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.schema.engine import jobs_url, reading, with_driver

log = logging.getLogger(__name__)
DBOS_VERSION = "3.4.0"  # the version whose table has the columns below
QUEUED = "ENQUEUED"  # the queue's state of a job that no worker has taken
AT_WORK = "PENDING"  # the state of one that a worker has taken
# the queue's priorities: below 0 a job goes before the others, however long these wait
USUAL = 0
FIRST = -1


@contextmanager
def queue_tables() -> Iterator[Engine]:
    """Yield an engine on the queue's own tables, and close its connections at the end."""
    queues = queue_engine()
    try:
        yield queues
    finally:
        queues.dispose()


def queue_engine() -> Engine:
    """Return an engine on the queue's own tables."""
    return create_engine(with_driver(jobs_url()), hide_parameters=True)


def check_version() -> None:
    """Warn if another version of the queue is installed than that whose table is known here."""
    if (installed := version("dbos")) != DBOS_VERSION:
        log.warning(
            "dbos %s is installed, and jobs are moved between queues in the table of dbos %s: compare its columns with "
            "learner/jobs/queue/routing.py, then change DBOS_VERSION there",
            installed,
            DBOS_VERSION,
        )


def route(engine: Engine, queues: Engine) -> None:
    """Move every waiting job to a queue that a live worker serves, the one of its kind if a worker serves that.

    queues: the result of `queue_engine`. At least the calling worker must have reported itself alive. Raises
    OperationalError if a database is unreachable.
    """
    jobs = queue_table(queues)
    with queues.connect() as connection:
        waiting = connection.execute(_with_status(jobs, QUEUED)).all()
    if not waiting:
        return
    with reading(engine) as session:
        served = served_queues(session)
    for job in waiting:
        if job.queue_name != (queue := queue_of(job.name, served)):
            still = (jobs.c.status == QUEUED, jobs.c.queue_name == job.queue_name)
            change_waiting_job(queues, jobs, job.workflow_uuid, still, queue_name=queue)


def queue_again(engine: Engine, queues: Engine, alive: set[str]) -> None:
    """Put running jobs whose worker is dead back into a queue, keeping their count of attempts.

    A job that another worker took meanwhile stays with it.
    """
    jobs = queue_table(queues)
    with queues.connect() as connection:
        lost = [job for job in connection.execute(_with_status(jobs, AT_WORK)) if job.executor_id not in alive]
    with reading(engine) as session:
        served = served_queues(session)
    for job in lost:
        still = (jobs.c.status == AT_WORK, jobs.c.executor_id == job.executor_id)
        queued = {"status": QUEUED, "owner_xid": None, "started_at_epoch_ms": None}
        change_waiting_job(queues, jobs, job.workflow_uuid, still, **queued, queue_name=queue_of(job.name, served))


def give_back(queues: Engine, job_id: str, token: str) -> None:
    """Put a job that this process runs back into its queue, unless another run has it already."""
    jobs = queue_table(queues)
    still = (jobs.c.status == AT_WORK, jobs.c.owner_xid == token)
    change_waiting_job(queues, jobs, job_id, still, status=QUEUED, owner_xid=None, started_at_epoch_ms=None)


def waiting_in_queue(queues: Engine, job_id: str, excluded: Collection[str]) -> list[str]:
    """Return the jobs that wait in this job's queue, in their order, without those of some kinds."""
    jobs = queue_table(queues)
    same_queue = select(jobs.c.queue_name).where(jobs.c.workflow_uuid == job_id).scalar_subquery()
    waiting = _with_status(jobs, QUEUED).where(jobs.c.queue_name == same_queue, jobs.c.name.not_in(excluded))
    waiting = waiting.order_by(jobs.c.priority, jobs.c.created_at)
    with queues.connect() as connection:
        return [job.workflow_uuid for job in connection.execute(waiting)]


def give_way_to(queues: Engine, job_id: str, token: str, waiting: Sequence[str]) -> None:
    """Put a job that this process runs back into its queue, behind these; it does not count as another try.

    waiting: in the order in which they go first.
    """
    jobs = queue_table(queues)
    for place, waiting_id in enumerate(reversed(waiting)):
        change_waiting_job(queues, jobs, waiting_id, (jobs.c.status == QUEUED,), priority=FIRST - place)
    still = (jobs.c.status == AT_WORK, jobs.c.owner_xid == token)
    queued = {"status": QUEUED, "owner_xid": None, "started_at_epoch_ms": None, "priority": USUAL}
    change_waiting_job(queues, jobs, job_id, still, **queued, recovery_attempts=jobs.c.recovery_attempts - 1)


WORKFLOW_COLUMNS = (
    "workflow_uuid",
    "name",
    "status",
    "queue_name",
    "executor_id",
    "owner_xid",
    "started_at_epoch_ms",
    "created_at",
    "priority",
    "recovery_attempts",
)


def queue_table(queues: Engine | Connection) -> TableClause:
    """Return the queue's own table."""
    schema = "dbos" if queues.dialect.name == "postgresql" else None
    return table("workflow_status", *map(column, WORKFLOW_COLUMNS), schema=schema)


def _with_status(jobs: TableClause, status: str) -> Select[Any]:
    return select(jobs).where(jobs.c.status == status)


def change_waiting_job(
    queues: Engine, jobs: TableClause, job_id: str, still: tuple[ColumnElement[bool], ...], **values: object
) -> None:
    """Set these values of the job, unless its state has changed since."""
    with queues.begin() as connection:
        connection.execute(update(jobs).where(jobs.c.workflow_uuid == job_id, *still).values(**values))
