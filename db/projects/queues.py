"""In which queue a job waits: by its kind, and by the workers that are alive."""

from collections.abc import Collection

from sqlalchemy.orm import Session

from db.domain import Queue
from db.projects.jobs import AUDIT, PREVIEW, SEARCH, live_workers

# Kinds of job that train nothing and, as a rule, encode no list of texts: they read labels, and vectors that are there.
LIGHT = (AUDIT, PREVIEW, SEARCH)


def queue_of(kind: str, served: Collection[Queue]) -> Queue:
    """The queue of a job of this kind while live workers serve these: its own, unless only the other one is served."""
    own = Queue.CPU if kind in LIGHT else Queue.GPU
    return own if own in served or not served else next(iter(served))


def served_queues(session: Session) -> set[Queue]:
    """The queues that live workers serve."""
    return {Queue(worker.queue) for worker in live_workers(session) if worker.queue is not None}
