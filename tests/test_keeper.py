"""The app's own worker is started, and started again, and nothing waits meanwhile."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from annotate import serve

Start = Callable[[Engine], "subprocess.Popen[bytes]"]


def kept(engine: Engine, monkeypatch: pytest.MonkeyPatch, start: Start, seconds: float) -> float:
    """The longest time for which the loop stood still while a worker was kept for so long."""
    monkeypatch.setattr(serve, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(serve, "_start_worker", start)

    async def tick() -> float:
        keeping, longest, end = asyncio.create_task(serve._keep_worker(engine)), 0.0, time.monotonic() + seconds
        while (before := time.monotonic()) < end:
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - before)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        return longest

    return asyncio.run(tick())


def test_a_worker_that_cannot_be_started_is_started_later(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def start(engine: Engine) -> "subprocess.Popen[bytes]":
        if "Cannot allocate memory" not in caplog.text:
            raise OSError("Cannot allocate memory")
        started.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE))
        return started[-1]

    kept(engine, monkeypatch, start, 2)
    assert len(started) == 1
    assert started[0].wait(10) != 0  # ended with the app


def test_a_database_that_is_away_keeps_nobody_waiting(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def away(engine: Engine) -> bool:
        asked.append(time.monotonic())
        time.sleep(2)
        return True

    monkeypatch.setattr(serve, "worker_alive", away)
    assert kept(engine, monkeypatch, lambda engine: pytest.fail("a worker is alive"), 1.5) < 1
    assert asked
