"""A run of a job whose job was taken over writes nothing more, neither rows nor files."""

from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace

import pytest
from dbos import error as dbos_error
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.errors import Cancelled
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, Project
from allpairs.learner.jobs.data.round_files import add_round_details, round_folder
from allpairs.learner.jobs.queue import job_state as state
from allpairs.learner.jobs.queue import ownership, routing, steps
from allpairs.learner.jobs.queue.job_state import database, job_state
from allpairs.learner.jobs.queue.ownership import JobRun, require_own
from allpairs.learner.jobs.queue.progress import Reporter
from tests.helpers.factories import make_project

Conflict = dbos_error.DBOSWorkflowConflictIDError


@pytest.fixture
def queues(engine: Engine) -> Iterator[Engine]:
    """Yield an engine on the queue's own tables."""
    with closing_client():
        found = routing.queue_engine()
        yield found
        found.dispose()


@pytest.fixture
def job(engine: Engine, queues: Engine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a job that this process runs."""
    found = request_round(engine, make_project(engine, ["a", "b"]))
    given(queues, "mine")
    context = SimpleNamespace(workflow_id=found, owner_xid="mine")
    monkeypatch.setattr(ownership, "get_local_dbos_context", lambda: context)
    return found


def given(queues: Engine, owner: str | None, status: str = "PENDING") -> None:
    """Give the job to this run."""
    table = f"{'dbos.' if queues.dialect.name == 'postgresql' else ''}workflow_status"
    with queues.begin() as connection:
        connection.execute(text(f"UPDATE {table} SET status = :status, owner_xid = :owner"),
                           {"status": status, "owner": owner})  # fmt: skip


def row(engine: Engine, job: str) -> tuple[str, str, str | None]:
    with reading(engine) as session:
        found = session.get_one(Job, job)
        return found.state, found.stage, found.error


@pytest.mark.parametrize(
    "database_kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True
)
@pytest.mark.parametrize(("owner", "status"), [("another's", "PENDING"), (None, "ENQUEUED"), (None, "SUCCESS")])
def test_a_run_that_lost_its_job_stores_nothing(
    engine: Engine, queues: Engine, job: str, owner: str | None, status: str
) -> None:
    with database() as mine:
        Reporter(mine, job, 0.0, 1.0)("train", 0.5)
        assert row(engine, job) == ("running", "train", None)
        given(queues, owner, status)
        with pytest.raises(Conflict):
            Reporter(mine, job, 0.0, 1.0)("encode", 0.5)
        with pytest.raises(Conflict), writing(mine) as session:
            session.add(Project(name="Of a run that lost its job", kind="symmetric", settings={}))
    with pytest.raises(Conflict):
        require_own(JobRun(job, "mine"))
    with reading(engine) as session:
        assert session.query(Project).count() == 1
    assert row(engine, job) == ("running", "train", None)


@pytest.mark.parametrize("error", [None, ValueError("what it read was replaced"), Cancelled("job"), Conflict("job")])
def test_how_a_run_that_lost_its_job_ended_is_not_told(
    engine: Engine, queues: Engine, job: str, error: BaseException | None
) -> None:
    with pytest.raises(Conflict), job_state(job):
        given(queues, None, "SUCCESS")
        with writing(engine) as session:
            session.get_one(Job, job).state = "done"
        if error is not None:
            raise error
    assert row(engine, job) == ("done", "", None)


def test_a_cancelled_job_has_no_owner_and_says_that_it_stopped(engine: Engine, queues: Engine, job: str) -> None:
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(Cancelled))
        stack.enter_context(job_state(job))
        with database() as mine:
            Reporter(mine, job, 0.0, 1.0)("train", 0.5)
            with writing(engine) as session:
                session.get_one(Job, job).cancel = True
            given(queues, None, "CANCELLED")
            Reporter(mine, job, 0.0, 1.0)("train", 0.6)
    assert row(engine, job) == ("cancelled", "", None)


def test_a_job_whose_step_could_not_be_stored_is_queued_again(engine: Engine, queues: Engine, job: str) -> None:
    with pytest.raises(Conflict), job_state(job):
        raise OperationalError("INSERT", {}, Exception("database is locked"))
    with queues.connect() as connection:
        left = connection.execute(text("SELECT status, owner_xid FROM workflow_status")).one()
    assert tuple(left) == ("ENQUEUED", None)
    assert row(engine, job)[0] == "running"


def test_files_are_not_written_for_a_lost_job(queues: Engine, job: str, home: object) -> None:
    given(queues, "another's")
    with pytest.raises(Conflict):
        add_round_details(round_folder(1, job) / "model", loss=1.0)
    assert not round_folder(1, job).exists()


def test_outside_a_job_nothing_is_asked(engine: Engine) -> None:
    with database() as mine, writing(mine) as session:
        session.add(Project(name="By hand", kind="symmetric", settings={}))
    require_own(None)


@pytest.mark.parametrize(
    ("said", "waits"), [("connection refused", True), ("database is locked", True), ("disk is full", False)]
)
def test_a_step_waits_only_for_a_database_that_is_away(said: str, waits: bool) -> None:
    assert steps.will_pass(OperationalError("SELECT", {}, Exception(said))) is waits
    assert not steps.will_pass(ValueError(said))


def test_a_database_that_stays_away_is_told_of_as_such() -> None:
    errors: list[Exception] = [OperationalError("SELECT", {}, Exception("connection refused"))] * 2
    sentence = state.error_sentence(dbos_error.DBOSMaxStepRetriesExceeded("make_plan", 2, errors))
    assert "database does not answer" in sentence
