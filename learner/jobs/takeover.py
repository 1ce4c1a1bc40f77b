"""Jobs that their worker left behind."""

from dbos import DBOS
from sqlalchemy import Engine

from db.engine import reading, writing
from db.jobs import OPEN, live_workers
from db.models import Job, now

MOST_ATTEMPTS = 5  # a job that ended its worker this often is not tried again
_ENDED = (
    f"The worker ended {MOST_ATTEMPTS} times while it did this job, perhaps for want of memory: "
    "use fewer neighbours, a smaller batch size or a larger machine, and try again."
)


def take_over(engine: Engine, name: str, queue: str) -> None:
    """Nothing; jobs of dead workers wait in the queue again, and the row of one that was tried too often says so.

    A worker of the same name takes up its own jobs when it starts; this is for those whose name never comes back.
    """
    with reading(engine) as session:
        alive = {worker.executor_id for worker in live_workers(session)} | {name}
    for job in DBOS.list_workflows(status="PENDING", load_input=False, load_output=False):
        if job.executor_id not in alive:
            DBOS.resume_workflow(job.workflow_id, queue_name=queue)
    ended = DBOS.list_workflows(status="MAX_RECOVERY_ATTEMPTS_EXCEEDED", load_input=False, load_output=False)
    with writing(engine) as session:
        for job in ended:
            row = session.get(Job, job.workflow_id)
            if row is not None and row.state in OPEN:
                row.state, row.error, row.updated_at = "failed", _ENDED, now()
