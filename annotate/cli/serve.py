"""The app and its worker: started together, stopped together."""

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

import allpairs
from allpairs.annotate.access.addresses import public_urls
from allpairs.annotate.access.mode import check_start, forced
from allpairs.annotate.demo import ensure_demo
from allpairs.annotate.jobs.requests import worker_alive
from allpairs.annotate.projects.lifecycle import empty_bin
from allpairs.db.errors import InputError
from allpairs.db.files.logs import configure
from allpairs.db.files.private import private_files
from allpairs.db.maintenance.error_messages import in_words
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.jobs import remove_worker, report_worker
from allpairs.db.schema.engine import make_engine, writing
from allpairs.db.schema.tables import now

APP = Path(__file__).parents[2] / "app.py"
HOLDS_US = Path(allpairs.__file__).parents[1]  # the repository, or site-packages
WORKER = [sys.executable, "-m", "allpairs.learner", "worker"]
LOOK_EVERY, LONGEST_WAIT = 2.0, 60.0  # seconds
EMPTY_EVERY = 3600.0  # seconds between two checks of the bin

log = logging.getLogger(__name__)


@private_files()
def serve(port: int = 8501, address: str = "localhost") -> None:
    """Run the app's Streamlit process, which starts a worker unless one is alive, in this process's place.

    Raises InputError if everybody must sign in but there is no account.
    """
    check_start(_migrated(), forced(os.environ.get("ALLPAIRS_LOGIN"), address))
    command = [sys.executable, "-m", "streamlit", "run", str(APP), "--server.headless=true"]
    command += [f"--server.port={port}", f"--server.address={address}"]
    if sys.platform == "win32":  # whose exec returns to the prompt while the app runs on
        with suppress(KeyboardInterrupt):
            raise SystemExit(subprocess.call(command))
    os.execv(sys.executable, command)


def _migrated() -> Engine:
    upgrade()
    return make_engine()


def lifespan(is_forced: Callable[[], bool]) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return the lifespan of the app; is_forced: whether users must sign in even without accounts."""
    return lambda _app: _living(is_forced)


@asynccontextmanager
async def _living(is_forced: Callable[[], bool]) -> AsyncIterator[None]:
    """Upgrade the database, then keep a worker alive and the bin emptied while the app runs."""
    with private_files():
        engine = _ready(is_forced)
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


def _ready(is_forced: Callable[[], bool]) -> Engine:
    """Return the engine of an upgraded database and its demo project; end the process with a line where that fails."""
    try:
        configure()
        for line in close_home():
            log.warning(line)
        engine = _migrated()
        check_start(engine, is_forced())
        public_urls()
        ensure_demo(engine)
    except Exception as error:
        said = str(error) if isinstance(error, InputError) else in_words(error)
        if said is None:
            raise
        print(f"error: {said}", file=sys.stderr, flush=True)
        os._exit(2 if isinstance(error, InputError) else 1)  # an exception would bury the line in a traceback
    return engine


async def _keep_bin(engine: Engine) -> None:
    """Remove expired projects from the bin, at the start and every hour."""
    while True:
        try:
            removed = await asyncio.to_thread(empty_bin, engine, now())
            for name in removed:
                log.info("the project %r was removed from the bin permanently", name)
        except (SQLAlchemyError, OSError, InputError):  # InputError: another app process was faster
            log.exception("could not empty the bin")
        await asyncio.sleep(EMPTY_EVERY)


async def _keep_worker(engine: Engine) -> None:
    """Start a worker unless one is alive, and restart it when it ends; wait longer after each quick end."""
    keeper = _Keeper(engine)
    try:
        while True:
            try:
                await asyncio.to_thread(keeper.look)  # an unreachable database must not block pages
            except (SQLAlchemyError, OSError):
                log.exception("could not check for a worker, or could not start one")
            await asyncio.sleep(LOOK_EVERY)
    finally:
        keeper.stop()


class _Keeper:
    """The worker that this app started, and how long to wait before restarting it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.process: subprocess.Popen[bytes] | None = None
        self.wait, self.next_start = LOOK_EVERY, 0.0
        self.looking = threading.Lock()

    def look(self) -> None:
        """Start a worker if none is alive and the last start was long enough ago."""
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
            # Loading torch takes the worker seconds; meanwhile no page should ask for another worker.
            with writing(self.engine) as session:
                report_worker(session, socket.gethostname(), socket.gethostname(), self.process.pid, "starting")

    def stop(self) -> None:
        """Stop the worker that this app started, even while it is starting."""
        with self.looking:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()


def _start_worker() -> subprocess.Popen[bytes]:
    log.info("starting a worker")
    path = os.pathsep.join([str(HOLDS_US), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(WORKER, env={**os.environ, "PYTHONPATH": path})
