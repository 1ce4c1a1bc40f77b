"""What the app sends to a process that answers `match`: nothing before the process has proved that it is the one."""

import json
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.publish.matching import NotAnswering, match_texts
from allpairs.db.projects.match_servers import live_servers, report_server
from allpairs.db.requests.server_proof import new_challenge, process_proof
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import MatchServer, now
from tests.helpers.factories import make_project
from tests.helpers.projects.results import make_published

SECRET, TEXT = "the secret of a process", "a text of somebody"
ASKED = {"texts": [TEXT], "k": 3, "side": "left", "why": True}


class Impostor(BaseHTTPRequestHandler):
    """A program that has taken the port of a process: it keeps what comes, and answers as well as it can."""

    protocol_version = "HTTP/1.1"
    received: list[bytes]
    secret = "guessed"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.received.append(str(self.headers).encode() + body)
        challenge = new_challenge()
        proof = process_proof(self.secret, body.decode(), challenge)
        answer = json.dumps({"challenge": challenge, "proof": proof, "results": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def listening(secret: str) -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a program that knows this secret, and what it receives."""
    handler = type("Handler", (Impostor,), {"received": [], "secret": secret})
    with socketserver.TCPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}", handler.received
        server.shutdown()


@pytest.fixture
def project(engine: Engine) -> int:
    project_id = make_project(engine, ["a", "b"])
    make_published(engine, project_id)
    return project_id


def report(engine: Engine, address: str) -> None:
    with writing(engine) as session:
        report_server(session, "m", "host", 1, address, SECRET)


def test_whoever_takes_the_port_gets_neither_secret_nor_text(engine: Engine, project: int) -> None:
    with listening("guessed") as (address, received):
        report(engine, address)
        with pytest.raises(NotAnswering):
            match_texts(engine, project, ASKED)
    assert len(received) == 1 and not any(word.encode() in received[0] for word in (SECRET, TEXT))
    with listening(SECRET) as (address, received):  # the process itself gets the text, and never the secret
        report(engine, address)
        match_texts(engine, project, ASKED)
    assert TEXT.encode() in received[1] and not any(SECRET.encode() in one for one in received)


def test_a_date_in_the_future_makes_no_process_alive(engine: Engine) -> None:
    with writing(engine) as session:
        report_server(session, "m", "host", 1, "127.0.0.1:1", SECRET)
    with reading(engine) as session:
        assert live_servers(session)
    with writing(engine) as session:
        session.get_one(MatchServer, "m").seen_at = now() + timedelta(minutes=1)
    with reading(engine) as session:
        assert not live_servers(session)
