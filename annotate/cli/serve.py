"""The app and the processes it starts: a worker and, if wanted, one that answers `match`. Stopped together."""

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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

import allpairs
from allpairs.annotate.demo import ensure_demo
from allpairs.annotate.features.projects.lifecycle import empty_bin
from allpairs.annotate.frame.access.addresses import public_urls
from allpairs.annotate.frame.access.mode import check_start, forced
from allpairs.annotate.kit.jobs.open_jobs import worker_alive
from allpairs.annotate.kit.jobs.wait import WORKER
from allpairs.db.errors import InputError
from allpairs.db.files.logs import configure
from allpairs.db.files.private import private_files
from allpairs.db.maintenance.error_messages import in_words
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.jobs import STARTING, live_workers, remove_worker, report_worker
from allpairs.db.projects.match_servers import live_servers, remove_server
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import now

APP = Path(__file__).parents[2] / "app.py"
HOLDS_US = Path(allpairs.__file__).parents[1]  # the repository, or site-packages
MATCHING = [sys.executable, "-m", "allpairs.learner", "serve-model"]
LOOK_EVERY = 2.0  # seconds
LONGEST_WAIT = 60.0  # seconds
SLOWEST_START = 300.0  # seconds for which a process counts as starting: loading torch takes long on a busy machine
EMPTY_EVERY = 3600.0  # seconds between two checks of the bin

log = logging.getLogger(__name__)


@private_files()
def serve(port: int = 8501, address: str = "localhost", match: bool = False) -> None:
    """Run the app's Streamlit process, which starts a worker unless one is alive, in this process's place.

    match: it also starts a process that answers `match`, as with `ALLPAIRS_MATCH=1`.

    Raises InputError if everybody must sign in but there is no account, and if ALLPAIRS_PUBLIC_URL is invalid.
    """
    public_urls()
    check_start(_migrated(), forced(os.environ.get("ALLPAIRS_LOGIN"), address))
    if match:
        os.environ["ALLPAIRS_MATCH"] = "1"
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
    """Upgrade the database; while the app runs, keep a worker alive and, if wanted, a process that answers `match`."""
    with private_files():
        engine = _ready(is_forced)
        tasks = [asyncio.create_task(keep_bin_emptied(engine))]
        if os.environ.get("ALLPAIRS_WORKER") != "0":
            tasks.append(asyncio.create_task(keep_running(worker_keeper(engine))))
        if os.environ.get("ALLPAIRS_MATCH") == "1":
            tasks.append(asyncio.create_task(keep_running(matching_keeper(engine))))
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
        message = str(error) if isinstance(error, InputError) else in_words(error)
        if message is None:
            raise
        print(f"error: {message}", file=sys.stderr, flush=True)
        os._exit(2 if isinstance(error, InputError) else 1)  # an exception would bury the line in a traceback
    return engine


async def keep_bin_emptied(engine: Engine) -> None:
    """Remove expired projects from the bin, at the start and every hour."""
    while True:
        try:
            removed = await asyncio.to_thread(empty_bin, engine, now())
            for name in removed:
                log.info("the project %r was removed from the bin permanently", name)
        except (SQLAlchemyError, OSError, InputError):  # InputError: another app process was faster
            log.exception("could not empty the bin")
        await asyncio.sleep(EMPTY_EVERY)


async def keep_running(keeper: "ProgramKeeper") -> None:
    """Start a process unless one is alive, and restart it when it ends; wait longer after each quick end."""
    try:
        while True:
            try:
                await asyncio.to_thread(keeper.look)  # an unreachable database must not block pages
            except (SQLAlchemyError, OSError):
                log.exception("could not check for a %s, or could not start one", keeper.program)
            await asyncio.sleep(LOOK_EVERY)
    finally:
        keeper.stop()


@dataclass
class ProgramKeeper:
    """A process that this app started, and how long to wait before restarting it.

    is_alive: whether one runs, here or elsewhere; began, ended: called with the number of a process of this app's.
    """

    program: str
    command: list[str]
    is_alive: Callable[[], bool]
    began: Callable[[int], None]
    ended: Callable[[int], None]
    process: subprocess.Popen[bytes] | None = None
    wait: float = field(default_factory=lambda: LOOK_EVERY)
    next_start: float = 0.0
    started: float = 0.0
    looking: threading.Lock = field(default_factory=threading.Lock)

    def look(self) -> None:
        """Start a process if none is alive and the last start was long enough ago."""
        with self.looking:
            self._look()

    def _look(self) -> None:
        if self.process is not None and self.process.poll() is not None:
            self.ended(self.process.pid)
            self.process = None
        if self.process is not None and time.monotonic() - self.started < SLOWEST_START:
            self.began(self.process.pid)  # it may still load, and have said nothing yet
        if self.process is None and time.monotonic() >= self.next_start and not self.is_alive():
            self.next_start = time.monotonic() + self.wait
            self.wait = min(2 * self.wait, LONGEST_WAIT)
            self.process = start_program(self.program, self.command)
            self.started = time.monotonic()
            self.began(self.process.pid)

    def stop(self) -> None:
        """Stop the process that this app started, even while it is starting."""
        with self.looking:
            if self.process is not None and self.process.poll() is None:
                self.process.terminate()


def worker_keeper(engine: Engine) -> ProgramKeeper:
    name = socket.gethostname()

    def began(pid: int) -> None:
        # Loading torch takes the worker seconds; meanwhile no page should ask for another worker.
        with writing(engine) as session:
            if all(worker.device == STARTING for worker in live_workers(session)):
                report_worker(session, name, name, pid, STARTING)

    def ended(pid: int) -> None:
        with writing(engine) as session:
            remove_worker(session, name, pid)

    return ProgramKeeper("worker", WORKER, lambda: worker_alive(engine), began, ended)


def matching_keeper(engine: Engine) -> ProgramKeeper:
    def is_alive() -> bool:
        with reading(engine) as session:
            return bool(live_servers(session))

    def ended(pid: int) -> None:
        with writing(engine) as session:
            remove_server(session, socket.gethostname(), pid)

    return ProgramKeeper("process that answers `match`", MATCHING, is_alive, lambda pid: None, ended)


def start_program(program_name: str, command: list[str]) -> subprocess.Popen[bytes]:
    log.info("starting a %s", program_name)
    path = os.pathsep.join([str(HOLDS_US), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path})
