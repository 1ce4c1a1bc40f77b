"""Worker processes, and waiting for what they do."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from tests.helpers.machine import ROOT

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


def wait_for_stage(engine: Engine, job_id: str, stage: str) -> None:
    """Wait until the job is in this stage."""
    wait_for(lambda: job_of(engine, job_id).stage == stage or job_of(engine, job_id).state in ENDED)
    assert (job_of(engine, job_id).stage, job_of(engine, job_id).error) == (stage, None)


def taken_by(job_id: str) -> str | None:
    """Return the worker that has, or had, the job."""
    with closing_client() as client:
        (job,) = client.list_workflows(workflow_ids=[job_id])
    return job.executor_id


@contextmanager
def started(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Yield the process of this command; kill it at the end."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
