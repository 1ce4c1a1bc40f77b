"""The worker: the process that runs jobs."""

import logging
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psutil
from dbos import DBOS, DBOSPortableJSONSerializer
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from allpairs.db.domain import Queue
from allpairs.db.errors import InputError
from allpairs.db.files.logs import configure
from allpairs.db.files.private import private_files
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.jobs import live_workers, remove_worker, report_worker
from allpairs.db.projects.webhook_addresses import allowed_networks
from allpairs.db.schema.engine import jobs_url, make_engine, writing
from allpairs.db.schema.tables import Worker
from allpairs.learner.jobs import (  # noqa: F401  (importing them registers their workflows)
    correction,
    experiment,
    explore,
    matches,
    next_round,
    pipeline,
    preview,
    rate,
    search,
    suggest,
)
from allpairs.learner.jobs.audit import job  # noqa: F401
from allpairs.learner.jobs.entities import job as entities  # noqa: F401
from allpairs.learner.jobs.queue.recovery import take_over
from allpairs.learner.jobs.queue.routing import check_version, queue_engine, route
from allpairs.learner.jobs.webhooks.sender import start_sending
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.memory import limit_memory

VERSION = "1"  # of the workflows' steps: waiting jobs of another version are skipped
HEARTBEAT = 2.0  # seconds
LOOK_AROUND = 10  # heartbeats between two searches for jobs that a dead worker left behind

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Me:
    """A worker's report of itself."""

    name: str
    device: str
    queue: Queue


@private_files()
def run_worker(name: str | None = None, queue: Queue | None = None) -> None:
    """Run jobs until interrupted. queue: whose jobs; by default the queue that suits the device.

    Sends what waits for webhooks, too. Raises InputError if a worker of that name is already running, and if the
    environment names networks wrongly.
    """
    configure()
    check_version()
    networks = allowed_networks()
    for line in close_home():
        log.warning(line)
    upgrade()
    engine = make_engine()
    if queue is Queue.CPU:  # leave the GPU to the worker of the other queue
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    device = default_device()
    if device == "cpu":  # drivers of a GPU reserve more than the machine has
        limit_memory()
    me = Me(name or socket.gethostname(), device, queue or (Queue.CPU if device == "cpu" else Queue.GPU))
    take_worker_name(engine, me)
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    _launch(me)
    start_sending(engine, networks, np.random.default_rng(), stopping)
    log.info("worker %s is ready (%s, queue %s)", me.name, me.device, me.queue)
    try:
        _beat(engine, me, stopping)
        _leave(engine, me)
    except Exception:
        log.exception("worker %s stops after an error", me.name)
        os._exit(1)
    # Does not wait for a running job: its finished steps are stored, and the next start resumes from there.
    os._exit(0)


def _beat(engine: Engine, me: Me, stopping: threading.Event) -> None:
    """Report this worker as alive and look after jobs that nobody would take, until it is told to stop."""
    beats = 0
    queues = queue_engine()
    while not stopping.is_set():
        renew_worker_report(engine, me)
        with database_patience():
            route(engine, queues)
        beats += 1
        if beats % LOOK_AROUND == 0:
            with database_patience():
                take_over(engine, queues, me.name)
        stopping.wait(HEARTBEAT)


def _launch(me: Me) -> None:
    DBOS(
        config={
            "name": "allpairs",
            "system_database_url": jobs_url(),
            "application_version": VERSION,
            "executor_id": me.name,
            "serializer": DBOSPortableJSONSerializer(),
            "console_log_level": "CRITICAL",  # how a job ended is in its row and in our own log
        }
    )
    DBOS.listen_queues([me.queue])
    DBOS.launch()
    DBOS.register_queue(me.queue, worker_concurrency=1, polling_interval_sec=0.5)


def take_worker_name(engine: Engine, me: Me) -> None:
    """Register under the name, unless another live process has it: a name's jobs resume where it starts."""
    with writing(engine) as session:
        for worker in live_workers(session):
            if worker.executor_id == me.name and not _is_me(worker) and _is_running(worker.host, worker.pid):
                raise InputError(
                    f"a worker named {me.name} is alive (process {worker.pid}): give this one another --name"
                )
        _tell(session, me)


def _is_me(worker: Worker) -> bool:
    """Return whether this process sent that report: in containers every process has the same number."""
    return (worker.host, worker.pid) == (socket.gethostname(), os.getpid())


def _tell(session: Session, me: Me) -> None:
    report_worker(session, me.name, socket.gethostname(), os.getpid(), me.device, me.queue)


def _leave(engine: Engine, me: Me) -> None:
    """Unregister this worker, so that the next one need not wait until this one counts as dead."""
    with writing(engine) as session:
        remove_worker(session, me.name, os.getpid())


def _is_running(host: str, pid: int) -> bool:
    return host != socket.gethostname() or psutil.pid_exists(pid)


def renew_worker_report(engine: Engine, me: Me) -> None:
    with database_patience(), writing(engine) as session:
        _tell(session, me)


@contextmanager
def database_patience() -> Iterator[None]:
    """Log a database that is locked or away for a while: it must not end the running job."""
    try:
        yield
    except DBAPIError as error:
        log.warning("the database does not answer: %s", error.orig)
