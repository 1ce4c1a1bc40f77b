"""Jobs that their worker left behind."""

from datetime import timedelta

from dbos import DBOS, EnqueueOptions
from sqlalchemy import Engine, select

from db.projects.jobs import NEXT_ROUND, OPEN, live_workers
from db.projects.queues import queue_of, served_queues
from db.schema.engine import reading, writing
from db.schema.tables import Job, now
from learner.jobs.queue.routing import queue_again

LOST = timedelta(seconds=30)  # after which a waiting job that the queue does not know will not come any more
_NOT_TOLD = (
    "The job ended, and how could not be stored: the database did not answer for a minute. See whether it runs, and "
    "try again."
)
_NEVER_QUEUED = "The app ended before this job was in the queue: try again."
MOST_ATTEMPTS = 5  # a job that ended its worker this often is not tried again
_ENDED = (
    f"The worker ended {MOST_ATTEMPTS} times while it did this job, perhaps for want of memory, or because the first "
    "machine of its cluster was lost: use fewer neighbours, a smaller batch size or a larger machine, look whether the "
    "cluster answers, and try again."
)
# How the queue calls a job that nobody will do again, and what its row says where it could not say so itself.
_OVER = {**dict.fromkeys(("SUCCESS", "ERROR", "CANCELLED"), _NOT_TOLD), "MAX_RECOVERY_ATTEMPTS_EXCEEDED": _ENDED}


def take_over(engine: Engine, queues: Engine, name: str) -> None:
    """Nothing; jobs of dead workers wait in the queue again, and the rows of those that ended without a word say so.

    queues: what `queue_engine` gives. A worker of the same name takes up its own jobs when it starts; this is for those
    whose name never comes back.
    """
    _find_lost(engine)
    with reading(engine) as session:
        alive = {worker.executor_id for worker in live_workers(session)} | {name}
    queue_again(engine, queues, alive)
    _mark_ended(engine)


def _mark_ended(engine: Engine) -> None:
    """Nothing; no row is open whose job nobody will do again."""
    with reading(engine) as session:
        rows = list(session.scalars(select(Job.id).where(Job.state.in_(OPEN))))
    if not rows:
        return
    for job in DBOS.list_workflows(workflow_ids=rows, load_input=False, load_output=False):
        if job.status not in _OVER:
            continue
        with writing(engine) as session:
            row = session.get(Job, job.workflow_id)
            if row is not None and row.state in OPEN:  # it may have told since
                row.state, row.error, row.updated_at = "failed", _OVER[job.status], now()


def _find_lost(engine: Engine) -> None:
    """Nothing; a round whose app ended before it had asked the queue is in the queue now; other such jobs have failed.

    What other kinds of job were asked to do only the app knew.
    """
    with reading(engine) as session:
        waiting = session.scalars(select(Job).where(Job.state == "waiting", Job.created_at < now() - LOST)).all()
        queue = queue_of(NEXT_ROUND, served_queues(session))
    if not waiting:
        return
    known = DBOS.list_workflows(workflow_ids=[job.id for job in waiting], load_input=False, load_output=False)
    for job in waiting:
        if job.id in {one.workflow_id for one in known}:
            continue
        if job.kind == NEXT_ROUND:  # whose only argument is the project
            options: EnqueueOptions = {"queue_name": queue, "workflow_name": NEXT_ROUND, "workflow_id": job.id}
            DBOS.enqueue_workflow_with_options(options, job.project_id)
            continue
        with writing(engine) as session:
            row = session.get(Job, job.id)
            if row is not None and row.state == "waiting":
                row.state, row.error, row.updated_at = "failed", _NEVER_QUEUED, now()
