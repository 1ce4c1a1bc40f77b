"""What load balancers and containers ask: whether app and worker live, and whether the app is ready."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.cli.commands import app
from allpairs.annotate.frame.web.health import health_routes
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.db.schema.engine import artifacts, newest_revision, writing
from allpairs.db.schema.tables import Worker, now
from allpairs.program import run
from tests.helpers.figures.measured import add_worker
from tests.helpers.machine import free_port


def ask(path: str, forced: bool = True) -> tuple[int, str]:
    """Return status and body of the response to an outsider who is not signed in."""
    site = Starlette(routes=health_routes(), middleware=[Middleware(AuthMiddleware, is_forced=lambda: forced)])
    answer = TestClient(site, base_url="http://10.0.0.7:8501", client=("10.0.0.1", 1)).get(path)
    return answer.status_code, answer.text


def test_everybody_hears_that_the_app_is_ready(engine: Engine) -> None:
    for forced in (True, False):
        assert ask("/readyz", forced) == (200, "ready")
        assert ask("/healthz", forced) == (200, "ok")


def test_an_app_without_its_database_lives_and_is_not_ready(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", f"postgresql://ada:secret@localhost:{free_port()}/somewhere")
    assert ask("/readyz") == (503, "the database does not answer")
    assert ask("/healthz") == (200, "ok")


def test_an_app_on_tables_of_another_version_is_not_ready(engine: Engine) -> None:
    with writing(engine) as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = '0013'")
    said = f"the database has revision 0013, but this version needs {newest_revision()}"
    assert ask("/readyz") == (503, said)


def test_an_app_that_cannot_write_is_not_ready(engine: Engine) -> None:
    artifacts().parent.mkdir(parents=True, exist_ok=True)
    artifacts().write_text("a file in its place")
    status, said = ask("/readyz")
    assert status == 503 and "artifact folder:" in said
    assert str(artifacts()) not in said


def test_a_worker_is_asked_for_without_loading_it(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    add_worker(engine, "rack")
    with writing(engine) as session:
        session.add(Worker(executor_id="old", host="a", pid=1, device="cpu", seen_at=now() - timedelta(seconds=90)))
    said = {}
    for name in ("rack-1", "old", "nobody"):
        with pytest.raises(SystemExit) as stopped:
            run(app, ["worker", "--name", name])
        said[name] = (stopped.value.code or 0, capsys.readouterr().out.strip())
    assert said["rack-1"][0] == 0
    status, sentence = said["old"]
    assert status == 1 and re.search(r"\bold\b.*\b9\d s\b", sentence)
    assert said["nobody"][0] == 1 and "worker named nobody" in said["nobody"][1]
