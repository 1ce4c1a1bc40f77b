"""A receiver of webhooks on this machine, which writes down what it was sent."""

import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


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
