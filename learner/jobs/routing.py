"""Which queue a waiting job is in, as workers come and go."""

from dbos import DBOS
from sqlalchemy import Engine, column, create_engine, table, update

from db.engine import jobs_url, reading
from db.queues import queue_of, served_queues

QUEUED = "ENQUEUED"  # as the queue calls a job that no worker has taken


def queue_engine() -> Engine:
    """An engine on the tables of the queue itself."""
    return create_engine(jobs_url().replace("postgresql://", "postgresql+psycopg://", 1), hide_parameters=True)


def route(engine: Engine, queues: Engine) -> None:
    """Nothing; every waiting job is in a queue that a live worker serves, the one of its kind where one serves that.

    queues: what `queue_engine` gives. At least the worker that calls this must have been reported as alive.
    """
    waiting = DBOS.list_workflows(status=QUEUED, load_input=False, load_output=False)
    if not waiting:
        return
    with reading(engine) as session:
        served = served_queues(session)
    for job in waiting:
        if job.queue_name != (wanted := queue_of(job.name, served)):
            _move(queues, job.workflow_id, str(job.queue_name), wanted)


def _move(queues: Engine, job_id: str, before: str, after: str) -> None:
    """Nothing; the job waits in the other queue, unless a worker took it meanwhile.

    The queue's own way (`resume_workflow`) asks for no state: it would have a job done twice that somebody just took.
    """
    schema = "dbos" if queues.dialect.name == "postgresql" else None
    jobs = table("workflow_status", column("workflow_uuid"), column("status"), column("queue_name"), schema=schema)
    still = (jobs.c.workflow_uuid == job_id, jobs.c.status == QUEUED, jobs.c.queue_name == before)
    with queues.begin() as connection:
        connection.execute(update(jobs).where(*still).values(queue_name=after))
