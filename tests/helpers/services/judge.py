"""A local server that plays a language model: a judge of known sensitivity and specificity, or a broken one."""

import json
import random
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from allpairs.db.domain import Verdict

Reply = tuple[int, Mapping[str, str], bytes]  # status, headers, body
Play = Callable[[dict[str, Any], Mapping[str, str]], Reply]  # body and headers of a request


def completion(content: str, logprobs: Any = None, tokens: tuple[int, int] = (100, 10)) -> Reply:
    """Return a chat completion."""
    choice = {"message": {"role": "assistant", "content": content}, "logprobs": logprobs}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return 200, {}, json.dumps({"choices": [choice], "usage": usage}).encode()


def said(verdict: Verdict, p: float) -> Reply:
    """Return the answer of a model that does as it is told."""
    return completion(json.dumps({"answer": verdict, "p": p}))


def judge(matches: Collection[tuple[str, str]], sensitivity: float, specificity: float, abstains: float = 0.0) -> Play:
    """Return a judge who is right so often, always in the same way on the same pair."""

    def play(body: dict[str, Any], _: Mapping[str, str]) -> Reply:
        asked = json.loads(body["messages"][-1]["content"])
        left, right = asked["first"], asked["second"]
        luck = random.Random(f"{left}\n{right}")
        if luck.random() < abstains:
            return said(Verdict.ABSTAIN, 0.5)
        is_match = (left, right) in matches or (right, left) in matches
        is_right = luck.random() < (sensitivity if is_match else specificity)
        yes = is_match == is_right
        return said(Verdict.YES if yes else Verdict.NO, 0.9 if yes else 0.1)

    return play


class Judged:
    """A running judge: its address, and the bodies and headers of the requests so far."""

    def __init__(self, url: str) -> None:
        self.url, self.bodies, self.headers = url, list[dict[str, Any]](), list[dict[str, str]]()


@contextmanager
def judging(play: Play, certificate: Path | None = None) -> Iterator[Judged]:
    """Run the judge on a free port; certificate: its folder, for a judge behind TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.bodies.append(body)
            found.headers.append(dict(self.headers))
            status, headers, answer = play(body, self.headers)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "certificate.pem", certificate / "certificate.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    found = Judged(f"http://127.0.0.1:{server.server_address[1]}/v1")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def dripping(piece: bytes = b"H", seconds: float = 0.05) -> Iterator[str]:
    """Yield the address of a server that sends one byte after another, and never a whole answer."""
    stop = threading.Event()

    def drip(listener: socket.socket) -> None:
        while not stop.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    while not stop.wait(seconds):
                        connection.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        stop.set()
        thread.join()
