"""The step of the job `rate` that puts a batch into the order in which people are asked, by a rater's verdicts."""

import random
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import ROUTED, Purpose, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.tasks import newest_round
from allpairs.db.labels.withdrawn import texts_present
from allpairs.db.projects.projects import project_settings
from allpairs.db.raters.rows import rater_at_work
from allpairs.db.raters.verdicts import judged_pairs, verdicts_of
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Lease, Round, Task, now
from allpairs.learner.jobs.queue.job_state import database
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.light.rating.agreement import verdict_weight
from allpairs.learner.light.rating.routing import route_pairs

LEAST_RATED = 0.5  # share of the pairs: a batch that came while the rater read the one before waits for its own job
EVEN = 0.5  # a matcher that gives no probability, before the first training, contradicts nobody


@job_step
def route_batch(project_id: int) -> str:
    """Put the open batch into the order of its rater's verdicts, once; return what was done, or nothing.

    Pairs that are answered, leased or for several people keep their places, and so do audit pairs.
    """
    with database() as engine:
        with reading(engine) as session:
            settings = project_settings(session, project_id)
            rater = rater_at_work(session, project_id, settings.rater_use)
            if settings.rater_use != "route" or rater is None:
                return ""
            if not verdict_weight(judged_pairs(session, rater, Purpose.TRAIN)):
                return ""
            verdicts = verdicts_of(session, rater)
        with writing(engine) as session:
            return _put_in_order(session, project_id, verdicts, settings.seed)


def _put_in_order(session: Session, project_id: int, verdicts: Mapping[Pair, Verdict], seed: int) -> str:
    batch = newest_round(session, project_id, lock=True)
    tasks = [] if batch is None else _unanswered_tasks(session, batch)
    task_verdicts = [verdicts.get((task.left_id, task.right_id)) for task in tasks]
    rated = len(tasks) - task_verdicts.count(None)
    if batch is None or not tasks or rated < LEAST_RATED * len(tasks) or _is_routed(session, batch):
        return ""
    size = sum(task.position < batch.size for task in tasks)
    matches = [(task.p or 0.0) > EVEN for task in tasks]
    routes = route_pairs(matches, task_verdicts, size, random.Random(f"{seed} {batch.id}"))
    positions = [task.position for task in tasks]
    for position, index in zip(positions, routes.order, strict=True):
        tasks[index].position = position
        if index not in routes.checks:
            tasks[index].strategy = ROUTED
    return f"; people are asked about {size:,} of {len(tasks):,} pairs, {len(routes.checks):,} of them spot checks"


def _unanswered_tasks(session: Session, batch: Round) -> list[Task]:
    """Return the training tasks of the batch that nobody has answered or leased, in their order."""
    answered = select(Answer.id).where(
        Answer.project_id == Task.project_id, Answer.left_id == Task.left_id, Answer.right_id == Task.right_id
    )
    leased = select(Lease.task_id).where(Lease.task_id == Task.id, Lease.expires_at > now())
    training = (Task.round_id == batch.id, Task.purpose == Purpose.TRAIN, Task.votes == 1)
    free = select(Task).where(*training, texts_present(Task, batch.project_id), ~answered.exists(), ~leased.exists())
    return list(session.scalars(free.order_by(Task.position)))


def _is_routed(session: Session, batch: Round) -> bool:
    routed = select(Task.id).where(Task.round_id == batch.id, Task.strategy == ROUTED)
    return session.scalar(routed.limit(1)) is not None
