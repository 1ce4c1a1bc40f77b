"""Recover jobs that their worker left behind."""

from datetime import timedelta

from dbos import DBOS, EnqueueOptions
from sqlalchemy import Engine, select

from allpairs.db.projects.jobs import NEXT_ROUND, OPEN, fail_job, live_workers
from allpairs.db.projects.queues import queue_of, served_queues
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, now
from allpairs.learner.jobs.queue.routing import queue_again

LOST = timedelta(seconds=30)  # after which a waiting job that is not in the queue is lost
_NOT_TOLD = (
    "The job ended, but its outcome could not be stored: the database did not answer for a minute. Check that it runs, "
    "then try again."
)
_NEVER_QUEUED = "The app stopped before it could queue this job: try again."
MOST_ATTEMPTS = 5  # a job that stopped its worker this often is not tried again
_ENDED = (
    f"The worker stopped {MOST_ATTEMPTS} times during this job, perhaps because memory ran out or because the first "
    "machine of its cluster was lost: use fewer neighbours, a smaller batch size or a larger machine, check that the "
    "cluster answers, and try again."
)
# The queue's states of a job that will not run again, and the error for a row that is still open.
_OVER = {**dict.fromkeys(("SUCCESS", "ERROR", "CANCELLED"), _NOT_TOLD), "MAX_RECOVERY_ATTEMPTS_EXCEEDED": _ENDED}


def take_over(engine: Engine, queues: Engine, name: str) -> None:
    """Put the jobs of dead workers back into the queue, and mark the rows of jobs that ended without saying so.

    queues: the result of `queue_engine`. A worker resumes the jobs of its own name when it starts; this is for names
    that never come back.
    """
    find_lost_jobs(engine)
    with reading(engine) as session:
        alive = {worker.executor_id for worker in live_workers(session)} | {name}
    queue_again(engine, queues, alive)
    mark_ended_jobs(engine)


def mark_ended_jobs(engine: Engine) -> None:
    """Mark as failed every open row whose job will not run again."""
    with reading(engine) as session:
        rows = list(session.scalars(select(Job.id).where(Job.state.in_(OPEN))))
    if not rows:
        return
    for job in DBOS.list_workflows(workflow_ids=rows, load_input=False, load_output=False):
        if job.status not in _OVER:
            continue
        with writing(engine) as session:
            row = session.get(Job, job.workflow_id)
            if row is not None and row.state in OPEN:  # it may have reported since
                fail_job(session, row, _OVER[job.status])


def find_lost_jobs(engine: Engine) -> None:
    """Queue each round whose app stopped before it could queue it; mark other such jobs as failed.

    Only the app knew the arguments of other kinds of job.
    """
    with reading(engine) as session:
        waiting = session.scalars(select(Job).where(Job.state == "waiting", Job.created_at < now() - LOST)).all()
        queue = queue_of(NEXT_ROUND, served_queues(session))
    if not waiting:
        return
    known = DBOS.list_workflows(workflow_ids=[job.id for job in waiting], load_input=False, load_output=False)
    for job in waiting:
        if job.id in {workflow.workflow_id for workflow in known}:
            continue
        if job.kind == NEXT_ROUND:  # its only argument is the project
            options: EnqueueOptions = {"queue_name": queue, "workflow_name": NEXT_ROUND, "workflow_id": job.id}
            DBOS.enqueue_workflow_with_options(options, job.project_id)
            continue
        with writing(engine) as session:
            row = session.get(Job, job.id)
            if row is not None and row.state == "waiting":
                fail_job(session, row, _NEVER_QUEUED)
