"""Long jobs give way: between two of their parts, jobs that people wait for go first.

The queue stores each finished part, so a job that gives way loses nothing, as one whose worker was killed.
"""

import time

from dbos import error as dbos_error
from sqlalchemy import Engine

from allpairs.db.errors import Cancelled
from allpairs.db.projects.queues import LONG
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job, now
from allpairs.learner.jobs.queue.job_state import database
from allpairs.learner.jobs.queue.ownership import this_run
from allpairs.learner.jobs.queue.routing import give_way_to, queue_tables, waiting_in_queue

SHORTEST = 10.0  # seconds: no turn is shorter, so that a long job gets on however many short ones come
LONGEST = 30.0  # seconds of a turn after which a job need not finish a part that can be repeated
FAIR = 300.0  # seconds of a turn after which other long jobs have theirs
LOOK = 2.0  # seconds between two looks at what waits


class Turn:
    """A long job's time at work, from its start, or from when it went on."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._looked = 0.0

    def is_over(self, shortest: float | None = None) -> bool:
        """Return whether other jobs wait in the job's queue, and it has worked for a while: `SHORTEST`, or this long.

        Long jobs of others count once it has worked for `FAIR`.
        """
        run = this_run()
        time_now = time.monotonic()
        is_short = time_now - self._began < (SHORTEST if shortest is None else shortest)
        if run is None or is_short or time_now - self._looked < LOOK:
            return False
        self._looked = time_now
        with queue_tables() as queues:
            return bool(self._waiting(queues, run.job_id))

    def _waiting(self, queues: Engine, job_id: str) -> list[str]:
        is_fair = time.monotonic() - self._began < FAIR
        return waiting_in_queue(queues, job_id, LONG if is_fair else ())

    def give_way(self) -> None:
        """Put the job back into its queue, behind those that wait there for its turn to end, if any do.

        Raises DBOSWorkflowConflictIDError then: this run of the job is over, and another goes on with the next part.
        """
        run = this_run()
        if run is None or not self.is_over():
            return
        with database() as engine, writing(engine) as session:
            job = session.get_one(Job, run.job_id)
            if job.cancel:
                raise Cancelled(run.job_id)
            job.state = "waiting"
            job.updated_at = now()
        with queue_tables() as queues:
            give_way_to(queues, run.job_id, run.token, self._waiting(queues, run.job_id))
        raise dbos_error.DBOSWorkflowConflictIDError(run.job_id)
