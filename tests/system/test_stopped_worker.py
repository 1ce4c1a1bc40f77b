"""A worker that stands still in the middle of a step: another takes the job over, also when the first one wakes up."""

import os
import signal
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs.open_jobs import workers
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.maintenance.integrity import problems
from allpairs.db.projects.jobs import ALIVE
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Answer, Round, StoredModel
from tests.helpers.projects.rounds import answer_by_turns, make_trainable
from tests.helpers.services.workers import job_of, started, taken_by, wait_for, wait_for_stage, wait_for_state

# A worker that takes another for dead after so many seconds.
IMPATIENT = """
import sys
from datetime import timedelta
from allpairs.db.projects import jobs
from allpairs.learner import worker

jobs.ALIVE = timedelta(seconds=float(sys.argv[2]))
worker.HEARTBEAT, worker.LOOK_AROUND = min(2.0, float(sys.argv[2]) / 6), 5
worker.run_worker(sys.argv[1])
"""
# The stage; whether the other one ends the job before the first wakes up; seconds after which a worker counts as dead,
# and for which the first one stands still at least.
MOMENTS = [
    pytest.param("train", False, 3.0, 0.0, id="while the other trains"),
    pytest.param("train", True, 3.0, 0.0, id="after the other has ended"),
    pytest.param("encode", True, 3.0, 0.0, id="in encoding"),
    pytest.param("search", True, 3.0, 0.0, id="in the search"),
    pytest.param("train", True, ALIVE.total_seconds(), 120.0, id="two minutes"),
]


def rows(engine: Engine, project: int) -> tuple[list[int | None], list[int], int]:
    """Return the numbers of rounds and matchers, and how many answers there are."""
    with reading(engine) as session:
        rounds = session.scalars(select(Round.number).where(Round.project_id == project).order_by(Round.id)).all()
        matchers = session.scalars(
            select(StoredModel.number).where(StoredModel.project_id == project).order_by(StoredModel.id)
        )
        return list(rounds), list(matchers), len(session.scalars(select(Answer.id)).all())


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "database_kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
@pytest.mark.parametrize(("stage", "ended", "limit", "stands"), MOMENTS)
def test_a_stopped_worker_changes_nothing_when_it_goes_on(
    engine: Engine, tmp_path: Path, stage: str, ended: bool, limit: float, stands: float
) -> None:
    project = make_trainable(engine, tmp_path)
    with ExitStack() as stack:
        names = {
            name: stack.enter_context(started([sys.executable, "-c", IMPATIENT, name, str(limit)])) for name in "ab"
        }
        wait_for(lambda: {one.executor_id for one in workers(engine)} == set(names))
        job = request_round(engine, project)
        wait_for_stage(engine, job, stage)
        first = str(taken_by(job))
        second = "b" if first == "a" else "a"
        os.kill(names[first].pid, signal.SIGSTOP)
        began = time.monotonic()
        wait_for(lambda: taken_by(job) == second)
        if ended:
            wait_for_state(engine, job, "done")
        else:
            time.sleep(1.0)
        time.sleep(max(0.0, began + stands - time.monotonic()))
        left = contents(artifacts()) if ended else {}
        before = rows(engine, project)
        stood = time.monotonic() - began
        os.kill(names[first].pid, signal.SIGCONT)
        wait_for(lambda: {one.executor_id for one in workers(engine)} == set(names))
        wait_for_state(engine, job, "done")
        time.sleep(5.0)  # for what the first one might still write
        assert (job_of(engine, job).state, job_of(engine, job).error, job_of(engine, job).stage) == ("done", None, "")
        assert taken_by(job) == second
        if ended:
            assert rows(engine, project) == before and contents(artifacts()) == left
        assert rows(engine, project) == ([1, 2], [0, 1], 16)
        assert list(problems(engine)) == []
        # Both work on.
        names[second].kill()
        answer_by_turns(engine, project)
        again = request_round(engine, project)
        wait_for_state(engine, again, "done")
        assert taken_by(again) == first
        assert rows(engine, project)[:2] == ([1, 2, 3], [0, 1, 2])
    print(f"stood still for {stood:.0f} s")
