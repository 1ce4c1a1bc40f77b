"""The app's own worker is started and restarted, and nothing waits meanwhile."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from sqlalchemy import Engine, update

from allpairs.annotate.cli import serve
from allpairs.annotate.kit.jobs.open_jobs import workers
from allpairs.db.projects.jobs import ALIVE
from allpairs.db.projects.match_servers import report_server
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Worker, now

SECONDS = 60.0  # that are waited at most


def keep(
    engine: Engine, until: Callable[[], bool], what: Callable[[Engine], serve.ProgramKeeper] = serve.worker_keeper
) -> None:
    """Keep a process until the condition holds."""

    async def watch() -> None:
        keeping = asyncio.create_task(serve.keep_running(what(engine)))
        async with asyncio.timeout(SECONDS):
            while not until():
                await asyncio.sleep(0.01)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)

    asyncio.run(watch())


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "LOOK_EVERY", 0.02)


def test_a_worker_that_cannot_be_started_is_started_later(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(what: str, command: list[str]) -> "subprocess.Popen[bytes]":
        if "Cannot allocate memory" not in caplog.text:
            raise OSError("Cannot allocate memory")
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(serve, "start_program", start)
    keep(engine, lambda: bool(started) and serve.worker_alive(engine))
    assert len(started) == 1
    assert started[0].wait(10) != 0  # ended with the app


def test_a_worker_that_takes_long_to_start_counts_as_starting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    monkeypatch.setattr(serve, "start_program", lambda what, command: slow)
    keeper = serve.worker_keeper(engine)
    keeper.look()
    for passed in (ALIVE / 2, 2 * ALIVE):
        with writing(engine) as session:
            session.execute(update(Worker).values(seen_at=now() - passed))
        keeper.look()
        assert [(worker.device, worker.seen_at > now() - ALIVE / 3) for worker in workers(engine)] == [
            ("starting", True)
        ]
    with writing(engine) as session:
        session.execute(update(Worker).values(device="cpu"))  # it is ready
    keeper.look()
    assert [worker.device for worker in workers(engine)] == ["cpu"]
    monkeypatch.setattr(serve, "SLOWEST_START", 0.0)
    with writing(engine) as session:
        session.execute(update(Worker).values(seen_at=now() - 2 * ALIVE))
    keeper.look()
    assert workers(engine) == []
    keeper.stop()
    assert slow.wait(10) != 0


def test_a_database_that_does_not_answer_keeps_nobody_waiting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, heard = threading.Event(), list[bool]()
    meanwhile = threading.Event()

    def away(engine: Engine) -> bool:
        asked.set()
        heard.append(meanwhile.wait(SECONDS / 2))  # never, where the loop stands still
        return True

    def until() -> bool:
        if asked.is_set():
            meanwhile.set()
        return bool(heard)

    monkeypatch.setattr(serve, "worker_alive", away)
    keep(engine, until)
    assert heard[0]


def test_a_live_process_that_answers_match_is_kept(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def start(what: str, command: list[str]) -> "subprocess.Popen[bytes]":
        commands.append(command)
        return subprocess.Popen([sys.executable, "-c", ""])  # ends at once, and is started again

    monkeypatch.setattr(serve, "start_program", start)
    keep(engine, lambda: len(commands) == 2, serve.matching_keeper)
    assert commands == [[sys.executable, "-m", "allpairs.learner", "serve-model"]] * 2
    with writing(engine) as session:
        report_server(session, "elsewhere", "elsewhere", 1, "elsewhere:1", "secret")
    keeper = serve.matching_keeper(engine)
    keeper.look()
    assert len(commands) == 2 and keeper.process is None
