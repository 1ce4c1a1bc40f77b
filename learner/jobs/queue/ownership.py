"""Whether this run of a job still owns it: a worker that was taken for dead may wake up after another took it over.

The queue keeps such a run from recording a step. Here it is kept from writing rows and files, too.
"""

from typing import NamedTuple

from dbos import error as dbos_error
from dbos._context import get_local_dbos_context  # the public names do not tell one run of a job from the next
from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from allpairs.learner.jobs.queue.routing import queue_table, queue_tables


class JobRun(NamedTuple):
    """One of the runs of a job: the queue gives a new token to each."""

    job_id: str
    token: str


def this_run() -> JobRun | None:
    """Return the run whose step or workflow calls this; None outside a job."""
    context = get_local_dbos_context()
    if context is None or not context.workflow_id or context.owner_xid is None:
        return None
    return JobRun(context.workflow_id, context.owner_xid)


def require_own(run: JobRun | None) -> None:
    """Raise DBOSWorkflowConflictIDError if another run has taken this one's job over."""
    if run is None:
        return
    with queue_tables() as queues, queues.connect() as connection:
        _require(connection, run)


def require_own_in(session: Session, run: JobRun) -> None:
    """As `require_own`, at the end of a transaction that stores results.

    On PostgreSQL nobody can take the job over before the transaction has ended. SQLite's queue is another file: there,
    whoever takes the job over must write its row first, and waits for this transaction.
    """
    if session.get_bind().dialect.name == "sqlite":
        require_own(run)
    else:
        _require(session.connection(), run)


def _require(connection: Connection, run: JobRun) -> None:
    jobs = queue_table(connection)
    job_row = select(jobs.c.status, jobs.c.owner_xid).where(jobs.c.workflow_uuid == run.job_id)
    row = connection.execute(job_row.with_for_update(read=True)).first()
    # A cancelled job has no owner and no other run, and this one must still say so in the row.
    if row is None or (row.owner_xid != run.token and row.status != "CANCELLED"):
        raise dbos_error.DBOSWorkflowConflictIDError(run.job_id)
