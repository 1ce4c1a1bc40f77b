"""Wait for what a worker process does."""

import time
from collections.abc import Callable

from sqlalchemy import Engine

from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job

ENDED = ("done", "failed", "cancelled")


def wait_for(what: Callable[[], bool], seconds: float = 90) -> None:
    """Wait until it is true; fail after these seconds."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.1)


def job_of(engine: Engine, job_id: str) -> Job:
    with reading(engine) as session:
        return session.get_one(Job, job_id)


def wait_for_state(engine: Engine, job_id: str, state: str) -> None:
    """Wait until the job is in this state."""
    wait_for(lambda: job_of(engine, job_id).state in ENDED)
    assert (job_of(engine, job_id).state, job_of(engine, job_id).error) == (state, None)
