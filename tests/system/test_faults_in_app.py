"""What people and programs are told while the disk is full or read-only, or the database is away; and that it passes.

The API, the pages, the downloads and signing in each say what happened, and the same request succeeds afterwards.
"""

import asyncio
import errno
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import DBAPIError, InternalError, OperationalError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest, app_test

from allpairs.annotate.api.routes import api
from allpairs.annotate.cli import serve
from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.features.download.routes import labels_address
from allpairs.annotate.frame.web import login_routes
from allpairs.annotate.frame.web.base_path import BasePathMiddleware
from allpairs.annotate.frame.web.faults import FaultMiddleware
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.kit.ui.errors import show_error
from allpairs.db.errors import InputError
from allpairs.db.maintenance.error_messages import fault_of, if_possible
from allpairs.db.maintenance.integrity import problems
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Answer
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT, fill_disk, free_port
from tests.helpers.pages import open_page
from tests.helpers.people import PASSWORD, START, make_person

SITE = "https://pairs.example.org"
SHELL, PAGES = ROOT / "annotate" / "shell" / "app.py", ROOT / "annotate" / "pages"
PAGE, PROBLEM = {"Accept": "text/html"}, "application/problem+json"
FULL, FORBIDDEN, AWAY = "The disk is full", "Cannot write to", "The database does not answer"


def make_batch(engine: Engine) -> int:
    project = make_project(engine, [f"text {at}" for at in range(6)], auto_train=False)
    make_round(engine, project, 6)
    return project


def stored(engine: Engine) -> int:
    """Return how many answers are stored."""
    with reading(engine) as session:
        return session.scalar(select(func.count()).select_from(Answer)) or 0


def browser(forced: bool = False, *more: Route, token: str = "") -> TestClient:
    """Return a browser at the site's routes, behind the app's middleware; forced: people must sign in."""
    auth = Middleware(AuthMiddleware, is_forced=lambda: forced, clock=lambda: START)
    site = Starlette(
        routes=[api(), *download_routes.routes(), *login_routes.login_routes(dict, lambda: START), *more],
        middleware=[Middleware(FaultMiddleware), auth],
    )
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    base = SITE if forced else "http://localhost"
    return TestClient(site, base_url=base, client=("127.0.0.1", 1), headers=headers, raise_server_exceptions=False)


def answers(project: int, task: int, *keys: str) -> tuple[str, dict[str, Any]]:
    """Return address and body of a request that stores long answers."""
    acts = [{"key": key, "task_id": task, "answer": "positive", "note": "note " * 380} for key in keys]
    return f"/api/v1/projects/{project}/answers", {"answers": acts}


def leased(client: TestClient, project: int) -> int:
    """Lease a pair, and return its task."""
    return int(client.post(f"/api/v1/projects/{project}/tasks", json={"n": 1}).json()["tasks"][0]["id"])


def test_the_api_answers_507_on_a_full_disk_and_stores_later(on_disk: Engine, disk: Path) -> None:
    client, project = browser(), make_batch(on_disk)
    task = leased(client, project)
    filler, told = fill_disk(disk), list[str]()
    for at in range(200):  # the log of SQLite may still have some room
        address, body = answers(project, task, f"k{at}")
        answer = client.post(address, json=body)
        if answer.status_code != 200:
            break
        told += answer.json()["stored"]
    assert (answer.status_code, answer.headers["content-type"]) == (507, PROBLEM)
    assert answer.json()["detail"].startswith(FULL) and str(disk) not in answer.text
    assert client.get("/api/v1/projects").status_code == 200  # reading goes on
    filler.unlink()
    assert client.post(address, json=body).json()["stored"] == [f"k{at}"]
    assert stored(on_disk) == len(told) + 1 and list(problems(on_disk)) == []


def test_an_app_that_meets_a_full_disk_says_so_too(on_disk: Engine, disk: Path) -> None:
    """Without room SQLite cannot even open the database, and calls that an I/O error."""
    make_batch(on_disk)
    on_disk.dispose()
    filler = fill_disk(disk)
    answer = browser().get("/api/v1/projects")
    assert (answer.status_code, answer.headers["content-type"]) == (507, PROBLEM) and FULL in answer.text
    filler.unlink()
    assert browser().get("/api/v1/projects").status_code == 200


def test_a_download_answers_507_while_the_disk_is_full(on_disk: Engine, disk: Path) -> None:
    client, project = browser(), make_batch(on_disk)
    task = leased(client, project)
    address, body = answers(project, task, *(f"k{at}" for at in range(100)))
    assert client.post(address, json=body).status_code == 200
    download = f"/{labels_address(project, 'history', 'csv')}"
    assert client.get(download).status_code == 200
    filler = fill_disk(disk)
    answer = client.get(download)
    assert (answer.status_code, answer.headers["content-type"]) == (507, PROBLEM)
    assert answer.json()["detail"].startswith(FULL)
    filler.unlink()
    assert client.get(download).status_code == 200


def test_signing_in_says_what_is_wrong(on_disk: Engine, disk: Path) -> None:
    make_person(on_disk, "Anna")
    client = browser(forced=True)
    form = {"name": "Anna", "password": PASSWORD}
    filler = fill_disk(disk)
    for _ in range(100):
        answer = client.post("/login", data=form, headers=PAGE | {"Origin": SITE}, follow_redirects=False)
        if answer.status_code != 303:
            break
    assert (answer.status_code, answer.headers["content-type"]) == (507, "text/html; charset=utf-8")
    assert FULL in answer.text and answer.headers["x-frame-options"] == "DENY"
    filler.unlink()
    assert client.post("/login", data=form, headers={"Origin": SITE}, follow_redirects=False).status_code == 303


@pytest.fixture
def read_only(on_disk: Engine, disk: Path) -> Iterator[tuple[Engine, int]]:
    """Yield an engine on a project's database, as it is while the app runs, on a disk that became read-only."""
    project = make_batch(on_disk)
    before = shutil.copytree(disk / "home", disk / "before")  # with the files of an open database
    on_disk.dispose()
    shutil.rmtree(disk / "home")
    before.rename(disk / "home")
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    engine = make_engine()
    yield engine, project
    engine.dispose()
    subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)


def test_the_api_answers_503_on_a_read_only_disk_and_can_be_read(read_only: tuple[Engine, int]) -> None:
    client, (_, project) = browser(), read_only
    answer = client.post(f"/api/v1/projects/{project}/tasks", json={"n": 1})
    assert answer.status_code == 503 and answer.json()["detail"].startswith(FORBIDDEN)
    assert client.get(f"/api/v1/projects/{project}").status_code == 200


@pytest.mark.parametrize("name", ["projects", "monitor", "answers", "jobs"])
def test_pages_for_reading_are_drawn_on_a_read_only_disk(read_only: tuple[Engine, int], name: str) -> None:
    page = AppTest.from_file(str(SHELL), default_timeout=30).run()
    page.switch_page(str(PAGES / "label.py")).run()
    assert not page.exception and any(error.value.startswith(FORBIDDEN) for error in page.error)  # Label leases pairs
    page.switch_page(str(PAGES / f"{name}.py")).run()
    assert not page.exception and page.title
    assert not any(error.value.startswith(FORBIDDEN) for error in page.error)


def test_a_button_says_that_the_disk_is_full_and_works_later(
    on_disk: Engine, disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Runner(app_test.LocalScriptRunner):
        """As the app runs scripts."""

        def __init__(self, *given: Any, **more: Any) -> None:
            super().__init__(*given, **more)
            self._on_script_error = show_error

    monkeypatch.setattr(app_test, "LocalScriptRunner", Runner)
    make_batch(on_disk)
    page = open_page(SHELL)
    page.switch_page(str(PAGES / "label.py")).run()
    filler = fill_disk(disk)
    while not page.exception and not any(FULL in error.value for error in page.error):
        assert (before := stored(on_disk)) < 6
        next(button for button in page.button if "answer_" in str(button.key)).click().run()
    assert not page.exception
    filler.unlink()
    page.run()
    next(button for button in page.button if "answer_" in str(button.key)).click().run()
    assert not page.exception and not any(FULL in error.value for error in page.error)
    assert stored(on_disk) == before + 1


def test_a_database_that_is_away_is_503(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", f"postgresql://ada:secret@localhost:{free_port()}/somewhere")
    for forced in (True, False):
        answer = browser(forced, token="aps_any").get("/api/v1/projects")
        assert (answer.status_code, answer.headers["content-type"]) == (503, PROBLEM) and AWAY in answer.text
        assert "somewhere" not in answer.text
    page = browser(forced=True).get("/login", headers=PAGE, cookies={"__Host-allpairs": "token"})
    assert page.status_code == 503 and AWAY in page.text


def test_other_errors_and_begun_responses_are_not_ours(engine: Engine) -> None:
    def wrong(request: Request) -> PlainTextResponse:
        raise ValueError("the disk is full of values")

    def begun(request: Request) -> StreamingResponse:
        def pieces() -> Iterator[bytes]:
            yield b"piece"
            raise OSError(errno.ENOSPC, "No space left on device")

        return StreamingResponse(pieces())

    client = browser(False, Route("/wrong", wrong), Route("/begun", begun))
    assert client.get("/wrong").status_code == 500
    with pytest.raises(OSError, match="No space left"):
        TestClient(client.app, base_url="http://localhost", client=("127.0.0.1", 1)).get("/begun")


def test_an_app_that_is_started_on_a_full_disk_ends_with_a_line(
    on_disk: Engine, disk: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def end(code: int) -> None:
        raise SystemExit(code)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(serve, "configure", lambda: None)
    on_disk.dispose()
    fill_disk(disk)
    with pytest.raises(SystemExit, match="1"):
        asyncio.run(serve.lifespan(lambda: False)(None).__aenter__())
    assert (said := capsys.readouterr().err).startswith(f"error: {FULL}") and said.count("\n") == 1


def test_what_may_be_lost_fails_no_request(caplog: pytest.LogCaptureFixture) -> None:
    with if_possible():
        raise OperationalError("UPDATE logins", {}, Exception("attempt to write a readonly database"))
    assert FORBIDDEN in caplog.text
    with pytest.raises(OperationalError), if_possible():
        raise OperationalError("UPDATE logins", {}, sqlite3.OperationalError("no such column"))


def test_the_app_answers_so_itself() -> None:
    from app import app

    assert [layer.cls for layer in app._user_middleware[:2]] == [BasePathMiddleware, FaultMiddleware]
    assert app._on_script_error is show_error


class OfPostgreSQL(Exception):
    """An error of a PostgreSQL server that speaks another language."""

    def __init__(self, sqlstate: str) -> None:
        super().__init__("kein Platz mehr")
        self.sqlstate = sqlstate


@pytest.mark.parametrize(
    ("error", "full", "said"),
    [
        (OperationalError("INSERT", {}, OfPostgreSQL("53100")), True, FULL),
        (InternalError("INSERT", {}, OfPostgreSQL("25006")), False, FORBIDDEN),
        (OperationalError("INSERT", {}, OfPostgreSQL("57P03")), False, AWAY),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), True, FULL),
        (OSError(errno.EROFS, "Read-only file system"), False, FORBIDDEN),
    ],
)
def test_faults_are_recognised_in_any_language(error: DBAPIError | OSError, full: bool, said: str) -> None:
    fault = fault_of(error)
    assert fault is not None and fault.full is full and str(fault).startswith(said)
    try:
        try:
            raise error
        except (DBAPIError, OSError):
            raise InputError("cannot write the file") from None
    except InputError as of_input:
        assert fault_of(of_input) == fault
    assert fault_of(InputError("no such file")) is None
