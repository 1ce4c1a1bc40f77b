"""Webhooks of projects, a receiver on this machine, and what processes do that are killed meanwhile."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind, NoticeKind
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.projects.webhooks import new_secret
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Item, Notice, Webhook, now
from allpairs.learner.jobs.webhooks.sender import LEASE, Sender


@dataclass(frozen=True)
class Got:
    """A request that arrived."""

    path: str
    headers: dict[str, str]  # names in lower case
    payload: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.payload)


@dataclass
class Receiver:
    """What arrived, and what is answered."""

    url: str = ""
    status: int = 204
    said: bytes = b""
    more: dict[str, str] = field(default_factory=dict)  # headers of the answers
    delay: float = 0.0  # seconds until the answer
    got: list[Got] = field(default_factory=list)

    @property
    def times(self) -> Counter[str]:
        """How often each message arrived, by its id."""
        return Counter(one.headers["webhook-id"] for one in self.got)

    def kinds(self) -> list[str]:
        """The kinds of the distinct messages, sorted."""
        return sorted({one.headers["webhook-id"]: one.body["type"] for one in self.got}.values())


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Yield a receiver that answers 204 until it is told otherwise."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            payload = self.rfile.read(int(self.headers["content-length"]))
            names = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(self.path, names, payload))
            time.sleep(receiver.delay)
            self.send_response(receiver.status)
            for name, value in receiver.more.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(receiver.said)

        def log_message(self, *_: Any) -> None:
            """Write nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Write nothing: the sender was killed."""

    with Server(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()


URL = "https://example.org/hook"
WEBHOOK: dict[str, Any] = {"url": URL, "kinds": ["batch.ready"]}  # as programs add one


def add_webhook(engine: Engine, project: int, *kinds: NoticeKind, url: str = URL, active: bool = True) -> int:
    """Add a webhook for these kinds, or for all, and return its number."""
    with writing(engine) as session:
        wanted = [str(kind) for kind in kinds or NoticeKind]
        row = Webhook(project_id=project, url=url, kinds=wanted, secret=new_secret(), active=active)
        session.add(row)
        session.flush()
        return row.id


def notices(engine: Engine) -> list[tuple[str, Any]]:
    """Return kind and data of all notices, the oldest first."""
    with reading(engine) as session:
        rows = session.scalars(select(Notice).order_by(Notice.id))
        return [(str(row.kind), row.body["data"]) for row in rows]


def items_of(engine: Engine) -> list[int]:
    with reading(engine) as session:
        return list(session.scalars(select(Item.id).order_by(Item.id)))


def answer_all(project: int) -> None:
    """Contradict Ann's answers one after another, as an app that was killed does: from the beginning."""
    engine = make_engine()
    first, *others = items_of(engine)
    for other in others:
        with writing(engine) as session:
            answer_at_once(session, project, "bob", [(first, other)], AnswerKind.NEGATIVE, f"bob-{other}")
        time.sleep(0.2)


def send_all(starts: int) -> None:
    """Send for ever; each start is later than what the one before has claimed."""
    Sender(make_engine(), np.random.default_rng(0), [ip_network("127.0.0.1")], lambda: now() + starts * LEASE).run(
        threading.Event()
    )
