"""Which queue a job waits in: it depends on the kind of job and on the live workers."""

from collections.abc import Collection

from sqlalchemy.orm import Session

from allpairs.db.domain import Queue
from allpairs.db.projects.jobs import AUDIT, ENTITIES, PREVIEW, RATE, SEARCH, live_workers

# Jobs that train nothing and rarely encode a list of texts: they read labels and stored vectors, or ask a rater.
LIGHT = (AUDIT, ENTITIES, PREVIEW, RATE, SEARCH)


def queue_of(kind: str, served: Collection[Queue]) -> Queue:
    """Return the queue for a job of this kind: its own, unless live workers serve only the other one."""
    own = Queue.CPU if kind in LIGHT else Queue.GPU
    return own if own in served or not served else next(iter(served))


def served_queues(session: Session) -> set[Queue]:
    """Return the queues that live workers serve."""
    return {Queue(worker.queue) for worker in live_workers(session) if worker.queue is not None}
