"""A real worker process: it finishes jobs, resumes them after a kill, refuses a namesake, and obeys a cancel."""

import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import InternalError

from allpairs.annotate.kit.jobs.open_jobs import cancel, workers
from allpairs.annotate.kit.jobs.requests import request_audit, request_matches, request_round
from allpairs.db.domain import Queue
from allpairs.db.projects.jobs import remove_worker
from allpairs.db.schema.engine import artifacts, make_engine, reading, writing
from allpairs.db.schema.tables import Round, StoredModel, Task
from allpairs.learner.worker import Me, database_patience, renew_worker_report
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_by_turns, make_slow_project, make_trainable
from tests.helpers.services.commands import learn
from tests.helpers.services.workers import (
    ENDED,
    job_of,
    started,
    taken_by,
    wait_for,
    wait_for_stage,
    wait_for_state,
)

COMMAND = [sys.executable, "-m", "allpairs", "worker", "--name"]
TAKEN_OVER = 60  # seconds after which a dead worker's jobs are another one's
# A worker that runs out of memory the first time that it encodes.
SHORT_OF_MEMORY = """
from allpairs.learner import worker
from allpairs.learner.jobs import make_model

make = make_model.pretrained_vectors

def out_of_memory(*given):
    make_model.pretrained_vectors = make
    raise MemoryError

make_model.pretrained_vectors = out_of_memory
worker.run_worker("desk")
"""

# A worker that fails itself, not in a job.
BROKEN = """
from allpairs.learner import worker

def fail(*given):
    raise RuntimeError("the clock stands still")

worker.route = fail
worker.run_worker("desk")
"""
# A worker that never ends encoding.
HELD = """
import time
from allpairs.db.domain import Queue
from allpairs.learner import worker
from allpairs.learner.jobs import make_model

def encode_for_ever(*given):
    while True:
        given[-1]("encode", 0.0)
        time.sleep(0.5)

make_model.pretrained_vectors = encode_for_ever
worker.run_worker("heavy", Queue.GPU)
"""


def worker(name: str = "desk", *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """Return a context with a worker process, killed at the end."""
    return started([*COMMAND, name, *options])


@pytest.fixture
def trainable(engine: Engine, tmp_path: Path) -> int:
    return make_trainable(engine, tmp_path)


def test_a_database_that_does_not_answer_ends_no_worker(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    engine = make_engine(f"sqlite:///{tmp_path}/empty.db")
    renew_worker_report(engine, Me("desk", "cpu", Queue.CPU))
    assert "database does not answer" in caplog.text
    engine.dispose()


def test_a_database_that_may_not_be_written_ends_no_worker(caplog: pytest.LogCaptureFixture) -> None:
    with database_patience():
        raise InternalError("UPDATE", {}, Exception("cannot execute UPDATE in a read-only transaction"))
    assert "read-only transaction" in caplog.text


def test_a_worker_that_cannot_go_on_says_why_and_fails(engine: Engine) -> None:
    with started([sys.executable, "-c", BROKEN]) as process:
        _, said = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "worker desk" in said and "the clock stands still" in said


@pytest.mark.slow
def test_a_killed_worker_resumes_at_the_last_finished_step(engine: Engine, trainable: int) -> None:
    job_id = request_round(engine, trainable)
    weights = artifacts() / f"project-{trainable}" / job_id / "model" / "model.safetensors"
    with worker() as process:
        wait_for_stage(engine, job_id, "train")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not weights.exists()
    with worker() as process:
        wait_for_stage(engine, job_id, "encode")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    trained = weights.stat().st_mtime_ns
    with worker():
        wait_for_state(engine, job_id, "done")
    assert weights.stat().st_mtime_ns == trained  # the finished step was not repeated
    with reading(engine) as session:
        assert session.scalars(select(Round.number).order_by(Round.number)).all() == [1, 2]
        matchers = session.scalars(select(StoredModel).order_by(StoredModel.number)).all()
        assert [matcher.number for matcher in matchers] == [0, 1]
        batch = session.scalars(select(Round).where(Round.number == 2)).one()
        tasks = session.scalars(select(Task).where(Task.round_id == batch.id)).all()
    assert batch.size == 24
    assert len({(task.left_id, task.right_id) for task in tasks}) == len(tasks) == 48


@pytest.mark.slow
@pytest.mark.parametrize("listed", [False, True])
def test_each_worker_takes_its_queues_jobs_and_a_dead_ones(engine: Engine, tmp_path: Path, listed: bool) -> None:
    project_id, other = make_slow_project(engine, tmp_path, 60, first=40), make_project(engine, ["a", "b"], name="B")
    with started([sys.executable, "-c", HELD]) as heavy, worker("light", "--queue", "cpu"):
        wait_for(lambda: {one.queue for one in workers(engine)} == {"gpu", "cpu"})
        at_work = request_round(engine, project_id)
        wait_for_stage(engine, at_work, "encode")
        waiting = request_matches(engine, project_id, 0, 0.5)
        light = request_audit(engine, other, 0)
        wait_for(lambda: job_of(engine, light).state == "failed")  # there is nothing to measure
        assert (taken_by(light), taken_by(at_work)) == ("light", "heavy")
        assert (job_of(engine, waiting).state, taken_by(waiting)) == ("waiting", None)
        os.kill(heavy.pid, signal.SIGKILL)
        heavy.wait()
        if not listed:
            with writing(engine) as session:
                remove_worker(session, "heavy", heavy.pid)  # as if nothing had been heard of it for long
        wait_for(lambda: taken_by(waiting) == taken_by(at_work) == "light", TAKEN_OVER)
        wait_for_state(engine, at_work, "done")
    with reading(engine) as session:
        assert session.scalars(select(Round.number)).all() == [1]


@pytest.mark.slow
def test_a_worker_outlives_a_job_that_ran_out_of_memory(engine: Engine, tmp_path: Path) -> None:
    project_id = make_slow_project(engine, tmp_path, 20, first=4)
    with started([sys.executable, "-c", SHORT_OF_MEMORY]) as process:
        first = request_round(engine, project_id)
        wait_for(lambda: job_of(engine, first).state in ENDED)
        assert job_of(engine, first).state == "failed"
        assert "ran out of memory" in (job_of(engine, first).error or "")
        wait_for_state(engine, request_round(engine, project_id), "done")
        assert process.poll() is None and [one.pid for one in workers(engine)] == [process.pid]


def test_one_worker_from_the_first_batch_to_a_cancel(engine: Engine, tmp_path: Path) -> None:
    project_id = make_slow_project(engine, tmp_path, 60, first=40, epochs=100)
    with worker() as process:
        job_id = request_round(engine, project_id)
        wait_for_state(engine, job_id, "done")
        assert [(one.executor_id, one.pid) for one in workers(engine)] == [("desk", process.pid)]

        refused = learn("worker", "--name", "desk").refused()
        assert "worker named desk" in refused and f"(process {process.pid})" in refused

        answer_by_turns(engine, project_id)
        job_id = request_round(engine, project_id)
        wait_for_stage(engine, job_id, "train")
        cancel(engine, job_id)
        wait_for(lambda: job_of(engine, job_id).stage == "", seconds=8)  # the worker's own mark: it has stopped
        assert job_of(engine, job_id).state == "cancelled"
        with reading(engine) as session:
            assert session.scalars(select(Round.number)).all() == [1]

        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
