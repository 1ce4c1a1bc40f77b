"""Which queue a waiting job is in, as workers come and go.

The queue's own ways are not used: `DBOS.resume_workflow` asks for no state, and would have a job done twice that
somebody just took; and its listing waits for a database that is away, while a worker has to go on telling of itself.
"""

import logging
from importlib.metadata import version
from typing import Any

from sqlalchemy import ColumnElement, Engine, Select, TableClause, column, create_engine, select, table, update

from db.projects.queues import queue_of, served_queues
from db.schema.engine import jobs_url, reading

log = logging.getLogger(__name__)
DBOS_VERSION = "3.4.0"  # of whose table the columns below are
QUEUED, AT_WORK = "ENQUEUED", "PENDING"  # as the queue calls a job that no worker has taken, and one that was taken


def queue_engine() -> Engine:
    """Return an engine on the tables of the queue itself."""
    if (installed := version("dbos")) != DBOS_VERSION:
        log.warning(
            "dbos %s is installed, and jobs are moved between queues in the table of dbos %s: compare its columns with "
            "learner/jobs/queue/routing.py, then change DBOS_VERSION there",
            installed, DBOS_VERSION,
        )  # fmt: skip
    return create_engine(jobs_url().replace("postgresql://", "postgresql+psycopg://", 1), hide_parameters=True)


def route(engine: Engine, queues: Engine) -> None:
    """Nothing; every waiting job is in a queue that a live worker serves, the one of its kind where one serves that.

    queues: what `queue_engine` gives. At least the worker that calls this must have been reported as alive. Raises
    OperationalError where a database is away.
    """
    jobs = _jobs(queues)
    with queues.connect() as connection:
        waiting = connection.execute(_with_status(jobs, QUEUED)).all()
    if not waiting:
        return
    with reading(engine) as session:
        served = served_queues(session)
    for job in waiting:
        if job.queue_name != (wanted := queue_of(job.name, served)):
            still = (jobs.c.status == QUEUED, jobs.c.queue_name == job.queue_name)
            _change(queues, jobs, job.workflow_uuid, still, queue_name=wanted)


def queue_again(engine: Engine, queues: Engine, alive: set[str]) -> None:
    """Nothing; jobs at work whose worker is not alive wait in a queue again, and still count how often they were tried.

    A job that another worker took meanwhile stays with it.
    """
    jobs = _jobs(queues)
    with queues.connect() as connection:
        lost = [job for job in connection.execute(_with_status(jobs, AT_WORK)) if job.executor_id not in alive]
    with reading(engine) as session:
        served = served_queues(session)
    for job in lost:
        still = (jobs.c.status == AT_WORK, jobs.c.executor_id == job.executor_id)
        again = {"status": QUEUED, "owner_xid": None, "started_at_epoch_ms": None}
        _change(queues, jobs, job.workflow_uuid, still, **again, queue_name=queue_of(job.name, served))


_COLUMNS = ("workflow_uuid", "name", "status", "queue_name", "executor_id", "owner_xid", "started_at_epoch_ms")


def _jobs(queues: Engine) -> TableClause:
    """The queue's own table."""
    schema = "dbos" if queues.dialect.name == "postgresql" else None
    return table("workflow_status", *map(column, _COLUMNS), schema=schema)


def _with_status(jobs: TableClause, status: str) -> Select[Any]:
    return select(jobs).where(jobs.c.status == status)


def _change(
    queues: Engine, jobs: TableClause, job_id: str, still: tuple[ColumnElement[bool], ...], **values: object
) -> None:
    """Nothing; the job has these values, unless it is not as it was any more."""
    with queues.begin() as connection:
        connection.execute(update(jobs).where(jobs.c.workflow_uuid == job_id, *still).values(**values))
