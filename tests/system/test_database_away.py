"""A database that is read-only, locked or restarted for a while: the app says so; app and worker go on afterwards."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.api.routes import api
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.web.faults import FaultMiddleware
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.domain import Role, Scope
from allpairs.db.maintenance.integrity import problems
from allpairs.db.schema import engine as engines
from allpairs.db.schema.engine import make_engine, migrate, reading
from allpairs.db.schema.tables import Answer, Round, StoredModel
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import Require
from tests.helpers.people import START, make_person
from tests.helpers.projects.rounds import make_trainable
from tests.helpers.services.servers import Server, is_postgres_missing
from tests.helpers.services.workers import started, wait_for_stage, wait_for_state

AWAY, FORBIDDEN, LOCKED = "The database does not answer", "Cannot write to", "The database was locked for too long"
Fault = Callable[[], AbstractContextManager[None]]
WORKER = [sys.executable, "-m", "allpairs", "worker", "--name", "desk"]


class Program:
    """A program that labels through one app, which is never started again."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.project = make_project(engine, [f"text {at}" for at in range(6)], auto_train=False)
        make_round(engine, self.project, 9)
        person = make_person(engine, "Anna", self.project, Role.ADMINISTRATOR)
        token = tokens.make(engine, person, "tests", START, scopes=[*Scope])
        auth = Middleware(AuthMiddleware, is_forced=lambda: True, clock=lambda: START)
        site = Starlette(routes=[api()], middleware=[Middleware(FaultMiddleware), auth])
        headers = {"Authorization": f"Bearer {token}"}
        self.client = TestClient(site, "http://localhost/api/v1", raise_server_exceptions=False, headers=headers)
        answer = self.client.post(f"/projects/{self.project}/tasks", json={"n": 9})
        self.tasks = [task["id"] for task in answer.json()["tasks"]]

    def tell(self, at: int) -> Any:
        """Send the answer to the task at this place."""
        act = {"key": f"key-{at}", "task_id": self.tasks[at], "answer": "positive"}
        return self.client.post(f"/projects/{self.project}/answers", json={"answers": [act]})

    def look(self) -> Any:
        return self.client.get(f"/projects/{self.project}")

    def stored(self) -> list[int]:
        with reading(self.engine) as session:
            return list(session.scalars(select(Answer.task_id).order_by(Answer.id)))


def require_endured(program: Program, fault: Fault, said: str, readable: bool) -> None:
    """Fail unless the app says what is wrong while the fault lasts, and stores each answer once afterwards."""
    before = program.stored()
    with fault():
        refused = program.tell(len(before))
        assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
        assert refused.json()["detail"].startswith(said) and "\n" not in refused.json()["detail"]
        assert program.look().status_code == (200 if readable else 503)
    for _ in range(2):  # once more, as after a lost answer
        answer = program.tell(len(before))
        assert (answer.status_code, answer.json()["refused"]) == (200, [])
    assert program.look().status_code == 200
    assert program.stored() == program.tasks[: len(before) + 1] and list(problems(program.engine)) == []


@pytest.fixture
def query_only() -> Iterator[Fault]:
    """Yield a fault in which no transaction of this process may write to SQLite, also on open connections."""
    wanted = False

    def obey(connection: Any) -> None:
        connection.exec_driver_sql(f"PRAGMA query_only={'ON' if wanted else 'OFF'}")

    @contextmanager
    def forbidden() -> Iterator[None]:
        nonlocal wanted
        wanted = True
        try:
            yield
        finally:
            wanted = False

    event.listen(Engine, "begin", obey)
    yield forbidden
    event.remove(Engine, "begin", obey)


@contextmanager
def locked(engine: Engine) -> Iterator[None]:
    """Hold SQLite's write lock, as a process that stands still."""
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        yield


def test_an_app_goes_on_after_sqlite_was_read_only_or_locked(
    engine: Engine, query_only: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare = engines.prepare_sqlite

    def impatient(connection: Any, record: Any) -> None:
        prepare(connection, record)
        connection.execute("PRAGMA busy_timeout=50")

    monkeypatch.setattr(engines, "prepare_sqlite", impatient)
    program = Program(engine)
    require_endured(program, query_only, FORBIDDEN, readable=True)
    require_endured(program, lambda: locked(engine), LOCKED, readable=True)


@pytest.fixture(scope="module")
def own(require: Require) -> Iterator[Server]:
    """Yield a server that tests may stop; each starts it again."""
    require(not is_postgres_missing(), "PostgreSQL is missing: install the package postgresql")
    with TemporaryDirectory() as folder:
        server = Server(Path(folder))
        server.start()
        try:
            migrate(server.url)
            yield server
        finally:
            server.stop()


@pytest.fixture
def on_own(own: Server, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Yield an engine on the empty database of that server, which apps and workers started from now on use."""
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", own.url)
    engine = make_engine()
    with psycopg.connect(own.url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute("TRUNCATE projects, people, workers, jobs CASCADE")
    yield engine
    engine.dispose()


@contextmanager
def stopped(server: Server, seconds: float = 0) -> Iterator[None]:
    """Stop the server as in a crash, and start it after the block, so many seconds later."""
    server.stop()
    try:
        yield
        time.sleep(seconds)
    finally:
        server.start()


@contextmanager
def read_only(server: Server, seconds: float = 0) -> Iterator[None]:
    """Let all transactions of the server, of open connections too, only read; for so many seconds after the block."""
    _set_read_only(server, True)
    try:
        yield
        time.sleep(seconds)
    finally:
        _set_read_only(server, False)


def _set_read_only(server: Server, wanted: bool) -> None:
    with psycopg.connect(server.url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET default_transaction_read_only = {'on' if wanted else 'off'}".encode())
        connection.execute("SELECT pg_reload_conf()")
    time.sleep(0.3)  # until all of the server's processes have heard of it


@pytest.mark.postgres
def test_an_app_goes_on_after_postgres_is_read_only_or_restarted(on_own: Engine, own: Server) -> None:
    program = Program(on_own)
    require_endured(program, lambda: read_only(own), FORBIDDEN, readable=True)
    require_endured(program, lambda: stopped(own), AWAY, readable=False)


@pytest.mark.postgres
@pytest.mark.slow
@pytest.mark.parametrize("stage", ["train", "encode", "search"])
@pytest.mark.parametrize("fault", [stopped, read_only])
def test_a_workers_job_ends_well_though_postgres_was_away(
    on_own: Engine, own: Server, tmp_path: Path, fault: Any, stage: str
) -> None:
    project = make_trainable(on_own, tmp_path)
    with started(WORKER) as process:
        job = request_round(on_own, project)
        wait_for_stage(on_own, job, stage)
        with fault(own, 10.0):
            pass
        require_done(on_own, project, job)
        assert process.poll() is None


@pytest.mark.slow
def test_a_workers_job_ends_well_though_sqlite_was_locked(engine: Engine, tmp_path: Path) -> None:
    project = make_trainable(engine, tmp_path)
    with started(WORKER) as process:
        job = request_round(engine, project)
        wait_for_stage(engine, job, "train")
        with locked(engine):
            time.sleep(45.0)  # longer than anybody waits for the lock
        require_done(engine, project, job)
        assert process.poll() is None


def require_done(engine: Engine, project: int, job: str) -> None:
    """Fail unless the job ends well, with one more round and one model."""
    wait_for_state(engine, job, "done")
    with reading(engine) as session:
        assert session.scalars(select(Round.number).where(Round.project_id == project)).all() == [1, 2]
        assert sorted(session.scalars(select(StoredModel.number).where(StoredModel.project_id == project))) == [0, 1]
    assert list(problems(engine)) == []
