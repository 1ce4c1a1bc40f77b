"""The app and its worker as one: started together, stopped together."""

import asyncio
import logging
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Engine

from annotate.demo import ensure_demo
from annotate.jobs import worker_alive
from db.engine import make_engine, migrate, writing
from db.jobs import report_worker

ROOT = Path(__file__).parent.parent
WORKER = [sys.executable, "-m", "learner", "worker"]
LOOK_EVERY, LONGEST_WAIT = 2.0, 60.0  # seconds

log = logging.getLogger(__name__)


def serve(port: int = 8501, address: str = "localhost") -> None:
    """Never: becomes the Streamlit process of the app, which starts a worker unless one is alive."""
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    command += [f"--server.port={port}", f"--server.address={address}"]
    os.execv(sys.executable, command)


@asynccontextmanager
async def lifespan(_app: Any) -> AsyncIterator[None]:
    """Nothing; while the app runs the database is up to date and a worker is alive."""
    migrate()
    engine = make_engine()
    ensure_demo(engine)
    keeper = asyncio.create_task(_keep_worker(engine))
    try:
        yield
    finally:
        keeper.cancel()
        with suppress(asyncio.CancelledError):
            await keeper
        engine.dispose()


async def _keep_worker(engine: Engine) -> None:
    """Starts a worker unless one is alive, and again when it ends; waits longer after each quick end."""
    process: subprocess.Popen[bytes] | None = None
    wait = LOOK_EVERY
    try:
        while True:
            if process is None or process.poll() is not None:
                wait = LOOK_EVERY if process is None else min(2 * wait, LONGEST_WAIT)
                process = None if worker_alive(engine) else _start_worker(engine)
            await asyncio.sleep(wait)
    finally:
        if process is not None and process.poll() is None:
            process.terminate()


def _start_worker(engine: Engine) -> subprocess.Popen[bytes]:
    log.info("starting a worker")
    process = subprocess.Popen(WORKER, env={**os.environ, "PYTHONPATH": str(ROOT)})
    # Loading torch takes the worker seconds; nobody should be told meanwhile to start another one.
    with writing(engine) as session:
        report_worker(session, socket.gethostname(), socket.gethostname(), process.pid, "starting")
    return process
