"""Long jobs give way between two of their parts; what was done stays done, and short jobs go first."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from dbos import error as dbos_error
from sqlalchemy import Engine, text

from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.requests import request_audit, request_experiment, request_pipeline, request_round
from allpairs.db.errors import Cancelled
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job
from allpairs.learner.jobs.queue import ownership, routing, turns
from allpairs.learner.jobs.queue.turns import Turn
from tests.helpers.factories import make_project
from tests.helpers.services.workers import started, wait_for

DEFINITION = {"name": "x", "rows": [{"name": "u", "strategy": "uncertainty"}]}


@pytest.fixture
def long_job(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a long job that this process runs, for the second time."""
    job_id = request_experiment(engine, make_project(engine, ["a", "b"], name="A"), DEFINITION)
    with closing_client():
        _change("status = 'PENDING', owner_xid = 'own', recovery_attempts = 2", job_id)
    context = SimpleNamespace(workflow_id=job_id, owner_xid="own")
    monkeypatch.setattr(ownership, "get_local_dbos_context", lambda: context)
    monkeypatch.setattr(turns, "SHORTEST", 0.0)
    return job_id


def _change(values: str, job_id: str) -> None:
    queues = routing.queue_engine()
    with queues.begin() as connection:
        connection.execute(text(f"UPDATE {_table(queues)} SET {values} WHERE workflow_uuid = :id"), {"id": job_id})
    queues.dispose()


def _table(queues: Engine) -> str:
    return f"{'dbos.' if queues.dialect.name == 'postgresql' else ''}workflow_status"


def _in_order(engine: Engine) -> list[tuple[str, str, int]]:
    """Return id, state and tries of all jobs in the order in which the queue takes those that wait."""
    queues = routing.queue_engine()
    columns = "workflow_uuid, status, recovery_attempts"
    with queues.connect() as connection:
        rows = connection.execute(text(f"SELECT {columns} FROM {_table(queues)} ORDER BY priority, created_at")).all()
    queues.dispose()
    return [(str(row[0]), str(row[1]), int(row[2])) for row in rows]


def test_a_long_job_yields_to_a_waiting_round_not_to_a_long_job(engine: Engine, long_job: str) -> None:
    other = request_experiment(engine, make_project(engine, ["a", "b"], name="B"), DEFINITION)
    Turn().give_way()
    assert [(state, tries) for _, state, tries in _in_order(engine)] == [("PENDING", 2), ("ENQUEUED", 0)]
    waiting = request_round(engine, make_project(engine, ["a", "b"], name="C"))
    with pytest.raises(dbos_error.DBOSWorkflowConflictIDError):
        Turn().give_way()
    assert _in_order(engine) == [(waiting, "ENQUEUED", 0), (long_job, "ENQUEUED", 1), (other, "ENQUEUED", 0)]
    with reading(engine) as session:
        assert session.get_one(Job, long_job).state == "waiting"


def test_long_jobs_take_turns_with_each_other(engine: Engine, long_job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = request_experiment(engine, make_project(engine, ["a", "b"], name="B"), DEFINITION)
    monkeypatch.setattr(turns, "FAIR", 0.0)
    _change("priority = -1", long_job)  # since another long job gave way to it before
    with pytest.raises(dbos_error.DBOSWorkflowConflictIDError):
        Turn().give_way()
    assert [row[0] for row in _in_order(engine)] == [other, long_job]


def test_it_keeps_its_turn_for_a_while_and_where_nobody_waits(
    engine: Engine, long_job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_audit(engine, make_project(engine, ["a", "b"], name="B"), 0)  # in the other queue
    Turn().give_way()
    request_round(engine, make_project(engine, ["a", "b"], name="C"))
    monkeypatch.setattr(turns, "SHORTEST", 60.0)
    Turn().give_way()
    assert ("PENDING", 2) in [row[1:] for row in _in_order(engine) if row[0] == long_job]


def test_a_cancelled_job_does_not_wait_again(engine: Engine, long_job: str) -> None:
    request_round(engine, make_project(engine, ["a", "b"], name="B"))
    with writing(engine) as session:
        session.get_one(Job, long_job).cancel = True
    with pytest.raises(Cancelled):
        Turn().give_way()


STAGES = """
import sys, time
from pathlib import Path
from allpairs.learner import worker
from allpairs.learner.jobs import next_round, pipeline
from allpairs.learner.jobs.queue import turns
from allpairs.learner.jobs.queue.job_state import job_state
from allpairs.learner.jobs.queue.steps import job_step

log = Path(sys.argv[1])
turns.SHORTEST = turns.LOOK = 0.5

def note(words):
    with log.open("a") as file:
        file.write(words + "\\n")

@job_step
def do_stage(job_id, name, config, files, stage):
    note(stage)
    while stage == "one" and not log.with_suffix(".go").exists():
        time.sleep(0.1)
    time.sleep(0.6)

pipeline.write_inputs = lambda *given: {}
pipeline.check_inputs = lambda *given: ["one", "two", "three"]
pipeline.do_stage = do_stage
pipeline.tell = lambda *given: note("end") or "told"
next_round.make_plan = lambda project_id: note("round") or 1 / 0
worker.run_worker("desk")
"""


def test_a_round_of_another_project_runs_between_two_stages(engine: Engine, tmp_path: Path) -> None:
    log = tmp_path / "log"
    first, second = (make_project(engine, ["a", "b"], name=name) for name in "AB")
    job_id = request_pipeline(engine, first, "quip", {}, {})
    with started([sys.executable, "-c", STAGES, str(log)]):
        wait_for(log.exists)
        waiting = request_round(engine, second)
        log.with_suffix(".go").touch()
        wait_for(lambda: "end" in log.read_text())
        assert log.read_text().split() == ["one", "round", "two", "three", "end"]
        wait_for(lambda: _state(engine, job_id) == "done")
        assert _state(engine, waiting) == "failed"  # as its plan was to


def _state(engine: Engine, job_id: str) -> str:
    with reading(engine) as session:
        return session.get_one(Job, job_id).state
