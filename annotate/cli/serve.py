"""The app and its worker as one: started together, stopped together."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from annotate.access.mode import check_start, forced
from annotate.demo import ensure_demo
from annotate.jobs.requests import worker_alive
from annotate.projects.lifecycle import empty_bin
from db.errors import InputError
from db.files.logs import configure
from db.maintenance.upgrade import upgrade
from db.projects.jobs import remove_worker, report_worker
from db.schema.engine import make_engine, writing
from db.schema.tables import now

ROOT = Path(__file__).parents[2]
WORKER = [sys.executable, "-m", "learner", "worker"]
LOOK_EVERY, LONGEST_WAIT = 2.0, 60.0  # seconds
EMPTY_EVERY = 3600.0  # seconds between two looks into the bin

log = logging.getLogger(__name__)


def serve(port: int = 8501, address: str = "localhost") -> None:
    """Never: becomes the Streamlit process of the app, which starts a worker unless one is alive.

    Raises InputError where everybody must log in and there is no account.
    """
    check_start(_migrated(), forced(os.environ.get("ALLPAIRS_LOGIN"), address))
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    command += [f"--server.port={port}", f"--server.address={address}"]
    os.execv(sys.executable, command)


def _migrated() -> Engine:
    upgrade()
    return make_engine()


def lifespan(is_forced: Callable[[], bool]) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """What surrounds the app's life; is_forced: whether a login is needed even without accounts."""
    return lambda _app: _living(is_forced)


@asynccontextmanager
async def _living(is_forced: Callable[[], bool]) -> AsyncIterator[None]:
    """Nothing; while the app runs the database is up to date, a worker is alive, and the bin is emptied in time."""
    try:
        configure()
        engine = _migrated()
        check_start(engine, is_forced())
    except InputError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        os._exit(2)  # raised from here, the line would be lost in the server's traceback; nothing has begun yet
    ensure_demo(engine)
    tasks = [asyncio.create_task(_keep_bin(engine))]
    if os.environ.get("ALLPAIRS_WORKER") != "0":
        tasks.append(asyncio.create_task(_keep_worker(engine)))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        engine.dispose()


async def _keep_bin(engine: Engine) -> None:
    """Removes what has lain in the bin for too long, at the start and every hour."""
    while True:
        try:
            removed = await asyncio.to_thread(empty_bin, engine, now())
            for name in removed:
                log.info("the project %r was removed from the bin for good", name)
        except (SQLAlchemyError, InputError):  # InputError: another app process was faster
            log.exception("the bin could not be emptied")
        await asyncio.sleep(EMPTY_EVERY)


async def _keep_worker(engine: Engine) -> None:
    """Starts a worker unless one is alive, and again when it ends; waits longer after each quick end."""
    keeper = _Keeper(engine)
    try:
        while True:
            try:
                await asyncio.to_thread(keeper.look)  # a database that is away must not keep pages waiting
            except (SQLAlchemyError, OSError):
                log.exception("whether a worker is alive could not be told, or none be started")
            await asyncio.sleep(LOOK_EVERY)
    finally:
        keeper.stop()


class _Keeper:
    """The worker that this app started, and how long to wait before it is started again."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.process: subprocess.Popen[bytes] | None = None
        self.wait, self.next_start = LOOK_EVERY, 0.0
        self.looking = threading.Lock()

    def look(self) -> None:
        """Nothing; a worker has been started if none is alive and the last start was long enough ago."""
        with self.looking:
            self._look()

    def _look(self) -> None:
        if self.process is not None and self.process.poll() is not None:
            with writing(self.engine) as session:
                remove_worker(session, socket.gethostname(), self.process.pid)
            self.process = None
        if self.process is None and time.monotonic() >= self.next_start and not worker_alive(self.engine):
            self.next_start = time.monotonic() + self.wait
            self.wait = min(2 * self.wait, LONGEST_WAIT)
            self.process = _start_worker()
            # Loading torch takes the worker seconds; nobody should be told meanwhile to start another one.
            with writing(self.engine) as session:
                report_worker(session, socket.gethostname(), socket.gethostname(), self.process.pid, "starting")

    def stop(self) -> None:
        """Nothing; the worker that was started here is told to stop, also one that is being started."""
        with self.looking:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()


def _start_worker() -> subprocess.Popen[bytes]:
    log.info("starting a worker")
    return subprocess.Popen(WORKER, env={**os.environ, "PYTHONPATH": str(ROOT)})
