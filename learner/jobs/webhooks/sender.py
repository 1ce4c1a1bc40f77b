"""Deliver pending webhooks in threads of the worker, while its jobs run.

A delivery is claimed before it is sent, and what came of it is stored afterwards. A worker that is killed in between
leaves a claim that runs out, and the message is sent again under the same id.
"""

import hmac
import json
import logging
import threading
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from allpairs.db.projects.webhook_addresses import Network
from allpairs.db.projects.webhooks import PREFIX, Message, claim, due_webhooks, forget_old, mark_delivered, mark_failed
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import now
from allpairs.db.version import VERSION
from allpairs.learner.jobs.webhooks.post import Failed, post

INTERVAL = 1.0  # seconds between two looks for deliveries
LEASE = timedelta(minutes=1)  # longer than a look-up of the name and an exchange take
THREADS = 16  # webhooks that are served at the same time
OF_PROJECT = 2  # of them one project's, so that slow ones leave room for other projects
TURN = timedelta(seconds=2)  # after which a webhook with more deliveries lets those that wait longer go first
TIDY = timedelta(hours=1)  # between two looks for old deliveries
WAITS = (10, 60, 300, 1800, 7200, 14400, 28800, 28800)  # seconds to the next attempt: in all about 23 hours
JITTER = 0.2  # share by which a wait may be longer, so that a receiver that comes back is not asked by all at once

log = logging.getLogger(__name__)


def next_attempt(attempt: int, failed_at: datetime, rng: np.random.Generator) -> datetime | None:
    """Return when to try again after this attempt, counted from 1; None after the last one."""
    if attempt > len(WAITS):
        return None
    return failed_at + timedelta(seconds=WAITS[attempt - 1] * (1 + JITTER * float(rng.random())))


class Sender:
    """Sends deliveries, one webhook in one thread at a time and few of a project, so that none delays another's."""

    def __init__(
        self,
        engine: Engine,
        rng: np.random.Generator,
        networks: Sequence[Network],
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.engine = engine
        self.rng = rng
        self.networks = networks
        self.clock = clock
        self.pool = ThreadPoolExecutor(THREADS, "webhooks")
        self.busy: dict[int, tuple[int, Future[None]]] = {}  # of each webhook its project
        self.tidied: datetime | None = None

    def run(self, stopping: threading.Event) -> None:
        """Send until told to stop. A database that is away for a while is logged."""
        while not stopping.wait(INTERVAL):
            try:
                self.look()
            except DBAPIError as error:
                log.warning("webhooks wait for the database: %s", error.orig)

    def look(self) -> None:
        """Start a thread for each webhook with a delivery that is due, as far as its project has threads left."""
        self.busy = {webhook: work for webhook, work in self.busy.items() if not work[1].done()}
        time = self.clock()
        if self.tidied is None or time - self.tidied > TIDY:
            with writing(self.engine) as session:
                forget_old(session, time)
            self.tidied = time
        with reading(self.engine) as session:
            due = due_webhooks(session, time)
        threads = Counter(project for project, _ in self.busy.values())
        for webhook, project in due.items():
            has_room = len(self.busy) < THREADS and threads[project] < OF_PROJECT
            if webhook not in self.busy and has_room:
                self.busy[webhook] = project, self.pool.submit(self._tell, webhook)
                threads[project] += 1

    def _tell(self, webhook: int) -> None:
        """Send the webhook's deliveries one after another, up to the first that fails or the end of its turn."""
        end = self.clock() + TURN
        try:
            while self.send_one(webhook) and self.clock() < end:
                pass
        except DBAPIError as error:
            log.warning("webhook %s waits for the database: %s", webhook, error.orig)
        except Exception:
            log.exception("webhook %s could not be served", webhook)

    def send_one(self, webhook: int) -> bool:
        """Send the webhook's next delivery; return whether it arrived. False, too, if none is due."""
        with writing(self.engine) as session:
            message = claim(session, webhook, self.clock(), LEASE)
        if message is None:
            return False
        payload = as_bytes(message.body)
        time = self.clock()
        signed = headers(message.secret, message.key, int(time.timestamp()), payload)
        try:
            status = post(message.url, payload, signed, self.networks)
        except Failed as failure:
            self._failed(message, failure)
            return False
        with writing(self.engine) as session:
            mark_delivered(session, message, status, self.clock())
        return True

    def _failed(self, message: Message, failure: Failed) -> None:
        time = self.clock()
        log.warning(
            "delivery %s: attempt %s failed: HTTP status %s", message.delivery_id, message.attempt, failure.status
        )
        with writing(self.engine) as session:
            mark_failed(session, message, failure.status, str(failure), next_attempt(message.attempt, time, self.rng))


def start_sending(
    engine: Engine, networks: Sequence[Network], rng: np.random.Generator, stopping: threading.Event
) -> None:
    """Send in a thread until told to stop. networks: private ones that messages may go to."""
    sender = Sender(engine, rng, networks)
    threading.Thread(target=sender.run, args=(stopping,), name="webhooks", daemon=True).start()


def as_bytes(body: dict[str, Any]) -> bytes:
    """Return the message as JSON, the same bytes for the same body."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def headers(secret: str, key: str, seconds: int, payload: bytes) -> dict[str, str]:
    """Return the headers of a message by Standard Webhooks 1.0: its id, when it is sent (Unix time), its signature."""
    return {
        "content-type": "application/json",
        "user-agent": f"Allpairs/{VERSION}",
        "webhook-id": key,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature(secret, key, seconds, payload),
    }


def signature(secret: str, key: str, seconds: int, payload: bytes) -> str:
    """Return `v1,` and HMAC-SHA-256 of `id.timestamp.body` in base64."""
    shared = b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(shared, f"{key}.{seconds}.".encode() + payload, sha256)
    return f"v1,{b64encode(signed).decode()}"
