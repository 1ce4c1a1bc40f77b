"""The worker: the process that runs jobs."""

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from dbos import DBOS, DBOSPortableJSONSerializer
from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError

from db.domain import InputError
from db.engine import jobs_url, make_engine, writing
from db.jobs import live_workers, remove_worker, report_worker
from db.upgrade import upgrade
from learner.device import default_device
from learner.jobs import (  # noqa: F401  (registers the workflows)
    audit,
    correction,
    experiment,
    explore,
    matches,
    next_round,
    opinions,
    pipeline,
    preview,
    search,
    suggest,
)
from learner.jobs.takeover import take_over

QUEUE = "jobs"
VERSION = "1"  # of the workflows' steps: waiting jobs of another version are not taken
HEARTBEAT = 2.0  # seconds
LOOK_AROUND = 10  # heartbeats between two looks for jobs that a dead worker left behind

log = logging.getLogger(__name__)


def run(name: str | None = None) -> None:
    """Nothing; runs jobs until interrupted. Raises InputError where a worker of that name is alive already."""
    name = name or socket.gethostname()
    upgrade()
    engine = make_engine()
    device = default_device()
    _take_name(engine, name, device)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    _launch(name)
    print(f"worker {name} is ready ({device})", file=sys.stderr, flush=True)
    try:
        _beat(engine, name, device, stopping)
        _leave(engine, name)
    finally:
        # A job at work is not waited for: its finished steps are stored, and the next start goes on from there.
        os._exit(0)


def _beat(engine: Engine, name: str, device: str, stopping: threading.Event) -> None:
    """Nothing; reports this worker as alive, and looks after dead ones' jobs, until it is told to stop."""
    beats = 0
    while not stopping.wait(HEARTBEAT):
        _report(engine, name, device)
        beats += 1
        if beats % LOOK_AROUND == 0:
            with _patience():
                take_over(engine, name, QUEUE)


def _launch(name: str) -> None:
    DBOS(
        config={
            "name": "allpairs",
            "system_database_url": jobs_url(),
            "application_version": VERSION,
            "executor_id": name,
            "serializer": DBOSPortableJSONSerializer(),
            "console_log_level": "CRITICAL",  # how a job ended is in its row and in our own log
        }
    )
    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=1, polling_interval_sec=0.5)


def _take_name(engine: Engine, name: str, device: str) -> None:
    """Reports this process under the name, unless another live process has it: a name's jobs resume where it starts."""
    with writing(engine) as session:
        for other in live_workers(session):
            if other.executor_id == name and other.pid != os.getpid() and _is_running(other.host, other.pid):
                raise InputError(f"a worker named {name} is alive (process {other.pid}): give this one another --name")
        report_worker(session, name, socket.gethostname(), os.getpid(), device)


def _leave(engine: Engine, name: str) -> None:
    """Nothing; the next worker need not wait until this one is taken for dead."""
    with writing(engine) as session:
        remove_worker(session, name, os.getpid())


def _is_running(host: str, pid: int) -> bool:
    if host != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _report(engine: Engine, name: str, device: str) -> None:
    with _patience(), writing(engine) as session:
        report_worker(session, name, socket.gethostname(), os.getpid(), device)


@contextmanager
def _patience() -> Iterator[None]:
    """Nothing; a database that is locked or away for a while is logged: the job at work must not end for that."""
    try:
        yield
    except OperationalError as error:
        log.warning("the database does not answer: %s", error.orig)
