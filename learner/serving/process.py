"""The process that answers `match` with published models: it listens, reports where, and notices publications."""

import asyncio
import logging
import os
import secrets
import signal
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import psutil
import uvicorn
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from allpairs.db.errors import InputError
from allpairs.db.files.logs import configure
from allpairs.db.files.private import private_files
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.match_servers import live_servers, remove_server, report_server
from allpairs.db.projects.projects import project_named
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.learner.serving.desk import Desk
from allpairs.learner.serving.loaded import Loaded
from allpairs.learner.serving.loading import load_tried
from allpairs.learner.serving.routes import application
from allpairs.learner.serving.trial import Trials

HEARTBEAT = 2.0  # seconds between two reports, and between two looks for publications
ANY = ("0.0.0.0", "::", "")  # addresses that listen on every network

log = logging.getLogger(__name__)


@private_files()
def run_server(host: str = "127.0.0.1", port: int = 0, name: str | None = None, projects: Sequence[str] = ()) -> None:
    """Answer until interrupted. port: 0 for a free one; projects: whose models to load at once.

    Raises InputError if a process of this name is alive, if the port is taken, or for an unknown project.
    """
    configure()
    for line in close_home():
        log.warning(line)
    upgrade()
    engine = make_engine()
    name = name or socket.gethostname()
    with reading(engine) as session:
        first = [project_named(session, project).id for project in projects]
        _require_name(session, name)
    listening = _listen(host, port)
    secret = secrets.token_urlsafe(32)
    loaded = Loaded(engine, partial(load_tried, Trials()))
    reached = socket.gethostname() if host in ANY else host
    address = f"{f'[{reached}]' if ':' in reached else reached}:{listening.getsockname()[1]}"
    loaded.start(first)
    server = uvicorn.Server(
        uvicorn.Config(application(Desk(engine, loaded), secret), log_config=None, access_log=False, lifespan="off")
    )
    log.info("process %s answers `match` at %s", name, address)
    for number in (signal.SIGINT, signal.SIGTERM):  # uvicorn stops at either, and raises it again when it has stopped
        signal.signal(number, signal.SIG_IGN)
    try:
        asyncio.run(_serve(server, listening, _Reports(engine, name, address, secret, loaded)))
        with suppress(DBAPIError), writing(engine) as session:
            remove_server(session, name, os.getpid())
    except Exception:
        log.exception("process %s stops after an error", name)
        os._exit(1)
    os._exit(0)  # without waiting for a model that is being loaded


class _Reports:
    """What the process does every two seconds."""

    def __init__(self, engine: Engine, name: str, address: str, secret: str, loaded: Loaded) -> None:
        self._engine = engine
        self._loaded = loaded
        self._who = name, socket.gethostname(), os.getpid(), address, secret

    def make(self) -> None:
        """Report, and look for publications; a database that is away for a while ends nothing."""
        try:
            with writing(self._engine) as session:
                report_server(session, *self._who)
            self._loaded.look()
        except DBAPIError as error:
            log.warning("the database does not answer: %s", error.orig)


async def _serve(server: uvicorn.Server, listening: socket.socket, reports: _Reports) -> None:
    await asyncio.to_thread(reports.make)
    reporting = asyncio.create_task(_report(reports))
    try:
        await server.serve([listening])
    finally:
        reporting.cancel()


async def _report(reports: _Reports) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT)
        await asyncio.to_thread(reports.make)


def _listen(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128
        )
    except OSError as error:
        raise InputError(f"cannot listen at {host}, port {port} ({error.strerror}): choose another --port") from None


def _require_name(session: Session, name: str) -> None:
    """Raise InputError if another live process has this name."""
    for server in live_servers(session):
        is_local = server.host == socket.gethostname()
        if server.name == name and not (is_local and not psutil.pid_exists(server.pid)):
            raise InputError(
                f"a process named {name} answers `match` already (process {server.pid}): give another --name"
            )
