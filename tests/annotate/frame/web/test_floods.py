"""Many requests at once: the app stays itself, a few are answered in turn, and the others hear when to come again."""

import http.client
import json
import selectors
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware

from allpairs.annotate.api.routes import SLOW, api
from allpairs.annotate.features.explore.search import request_text_search
from allpairs.annotate.features.publish import matching
from allpairs.annotate.frame.web import health
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.prometheus import Telemetry
from allpairs.annotate.kit.jobs import requests
from allpairs.db.errors import Busy, InputError
from allpairs.db.projects.items import LONGEST_SEARCH, MOST_WORDS, items_with
from allpairs.db.projects.jobs import NEXT_ROUND, SEARCH
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import MatchServer
from tests.helpers.factories import make_project
from tests.helpers.machine import free_port
from tests.helpers.projects.results import ANSWER, make_published

PROBES = ("/healthz", "/readyz", "/metrics")
RUNNING, WAITING = SLOW[1:]
FLOOD = 42


@contextmanager
def served() -> Iterator[int]:
    """Yield the port of a real server with the API and the probes."""
    telemetry = Telemetry()
    site = Starlette(
        routes=[*health.health_routes(), telemetry.route(), api(telemetry.observe)],
        middleware=[Middleware(AuthMiddleware, is_forced=lambda: False)],
    )
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(site, port=port, log_config=None, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield port
    finally:
        server.should_exit = True
        thread.join()


class Process:
    """A process that answers `match` when it is let, and counts what it is asked."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.go, self.asked = threading.Event(), 0
        patch.setattr(matching, "ask_servers", self.ask)

    def ask(self, servers: Sequence[MatchServer], body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked += 1
        assert self.go.wait(60)
        return 200, ANSWER


def sent(port: int, path: str, body: object = None) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("localhost", port, timeout=60)
    data, headers = (None, {}) if body is None else (json.dumps(body), {"Content-Type": "application/json"})
    connection.request("GET" if body is None else "POST", path, data, headers)
    return connection


def answered(connections: Sequence[http.client.HTTPConnection], least: int) -> list[http.client.HTTPConnection]:
    """Return the connections that have an answer, once so many have one."""
    ready: list[http.client.HTTPConnection] = []
    until = time.monotonic() + 60
    while len(ready) < least and time.monotonic() < until:
        with selectors.DefaultSelector() as selector:
            for connection in connections:
                selector.register(connection.sock, selectors.EVENT_READ, connection)
            ready = [key.data for key, _ in selector.select(1.0)]
    return ready


def test_a_flood_of_requests_is_refused_and_leaves_probes_alone(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, ["a", "b"])
    make_published(engine, project_id)
    process = Process(monkeypatch)
    asked = {"texts": [f"word{at}" for at in range(100)], "k": 20}
    path = f"/api/v1/projects/{project_id}/match"
    with served() as port:
        flood = [sent(port, path, asked) for _ in range(FLOOD)]
        refused = answered(flood, FLOOD - RUNNING - WAITING)
        for one in refused:
            response = one.getresponse()
            assert response.status == 429 and int(response.headers["Retry-After"]) > 0
            assert "requests wait already" in json.loads(response.read())["detail"]
        for probe in PROBES:
            began = time.monotonic()
            assert sent(port, probe).getresponse().status == 200
            assert time.monotonic() - began < 5  # half a second on a machine of its own
        assert sent(port, "/api/v1/projects").getresponse().status == 200
        waiting = [one for one in flood if one not in refused]
        assert len(waiting) == RUNNING + WAITING
        left = waiting[-10:]
        for one in left:
            one.close()
        assert sent(port, "/healthz").getresponse().status == 200  # the server has heard that they left
        process.go.set()
        for one in waiting[:-10]:
            assert one.getresponse().status == 200
    assert process.asked == len(waiting) - len(left)


def test_a_request_for_very_many_candidates_is_refused(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id = make_project(engine, ["a", "b"])
    make_published(engine, project_id)
    process = Process(monkeypatch)
    with served() as port:
        answer = sent(port, f"/api/v1/projects/{project_id}/match", {"texts": ["a"] * 100, "k": 100}).getresponse()
        assert answer.status == 422 and "more than 2,000" in json.loads(answer.read())["detail"]
    assert process.asked == 0


# Searches


class Queue:
    """The queue, which keeps what is put into it."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    def __enter__(self) -> "Queue":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def enqueue(self, options: dict[str, Any], *_: object) -> None:
        self.options.append(options)


def test_sixty_searches_go_behind_a_training(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue()
    monkeypatch.setattr(requests, "closing_client", lambda: queue)
    searched, trained = make_project(engine, ["a", "b"], name="A"), make_project(engine, ["a", "b"], name="B")
    refused = 0
    for _ in range(60):
        try:
            request_text_search(engine, searched, 0, "text", True)
        except Busy:
            refused += 1
    requests.request_round(engine, trained)
    order = sorted(queue.options, key=lambda options: options.get("priority", 0))
    assert refused == 60 - requests.MOST_QUICK
    assert [options["workflow_name"] for options in order][:3] == [SEARCH, NEXT_ROUND, SEARCH]
    request_text_search(engine, trained, 0, "text", True)  # nobody of another project waits for them
    assert "priority" not in queue.options[-1]


def test_a_search_for_very_many_words_is_refused(engine: Engine) -> None:
    project_id = make_project(engine, ["one two", "three"])
    with reading(engine) as session:
        assert len(items_with(session, project_id, ["one", "two"], 5)) == 1
        for words in (["a"] * (MOST_WORDS + 1), ["a" * (LONGEST_SEARCH + 1)]):
            with pytest.raises(InputError, match="search for fewer"):
                items_with(session, project_id, words, 5)
