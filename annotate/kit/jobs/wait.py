"""Commands that wait for a job: a worker is started for it if none is alive."""

import subprocess
import sys
import time

from sqlalchemy import Engine

from allpairs.annotate.kit.jobs.open_jobs import find_job, worker_alive
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import OPEN

WORKER = [sys.executable, "-m", "allpairs.learner", "worker"]
LOOK_SECONDS = 0.5  # between two looks at the job


def wait_for_job(engine: Engine, project_id: int, job_id: str) -> None:
    """Return once the job is done. Raises InputError if it fails or is cancelled, or if its worker ends."""
    process = None if worker_alive(engine) else subprocess.Popen(WORKER)
    try:
        while (job := find_job(engine, project_id, job_id)) is not None and job.state in OPEN:
            if process is not None and process.poll() is not None and not worker_alive(engine):
                raise InputError("the worker has stopped before the search was done: see what it said above")
            time.sleep(LOOK_SECONDS)
    finally:
        if process is not None:
            process.terminate()
            process.wait()
    if job is None or job.state != "done":
        raise InputError(f"the job was not done: {job.error or job.state if job else 'it is not there any more'}")
