"""Two app processes on one PostgreSQL: no pair is served by both, each answer is stored once, both show the same."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.api.routes import api
from allpairs.annotate.features.label import queue
from allpairs.annotate.features.label.queue import record
from allpairs.annotate.features.labels.export import page_of_labels
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.prometheus import Telemetry
from allpairs.db.domain import Role, Scope
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Answer, Task
from benchmarks.scale.app_process import running_app
from tests.helpers.factories import make_project, make_round
from tests.helpers.people import START, make_person
from tests.helpers.services.servers import new_database
from tests.helpers.web import answer

pytestmark = pytest.mark.postgres
PAIRS = 30


@pytest.fixture
def shared(server: str, template: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Yield an engine on the database of every app started from now on."""
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", new_database(server, "shared", template))
    for name in ("ALLPAIRS_DEMO", "ALLPAIRS_WORKER"):
        monkeypatch.setenv(name, "0")
    engine = make_engine()
    yield engine
    engine.dispose()


class Stack:
    """All layers of an app process between its address and the database, in this process."""

    def __init__(self) -> None:
        told = Telemetry()
        middleware = [Middleware(AuthMiddleware, is_forced=lambda: True, clock=lambda: START)]
        self.site = Starlette(routes=[told.route(), api(told.observe)], middleware=middleware)

    def client(self, token: str) -> Any:
        return TestClient(self.site, base_url="http://localhost", headers=bearer(token))


class Process:
    """A real app process."""

    def __init__(self, port: int) -> None:
        self.url = f"http://localhost:{port}"

    def client(self, token: str) -> Any:
        return httpx2.Client(base_url=self.url, headers=bearer(token), timeout=60)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@contextmanager
def stacks(home: Path) -> Iterator[list[Stack]]:
    yield [Stack(), Stack()]


@contextmanager
def processes(home: Path) -> Iterator[list[Process]]:
    with running_app(home) as one, running_app(home) as other:
        yield [Process(one), Process(other)]


def label(mine: Any, other: Any, project: int) -> list[int]:
    """Answer each task that one process served there, and again at the other one, as after a crash; return them."""
    served: list[int] = []
    while tasks := mine.post(f"/api/v1/projects/{project}/tasks", json={"n": 3}).json()["tasks"]:
        acts = {"answers": [answer(f"key-{task['id']}", task["id"]) for task in tasks]}
        for at in (mine, other):
            assert at.post(f"/api/v1/projects/{project}/answers", json=acts).json()["refused"] == []
        served += [task["id"] for task in tasks]
    return served


@pytest.mark.parametrize("apps", [stacks, pytest.param(processes, marks=pytest.mark.slow)])
def test_two_processes_label_and_monitor_one_project(shared: Engine, home: Path, apps: Any) -> None:
    project = make_project(shared, [f"text {at}" for at in range(12)], auto_train=False)
    make_round(shared, project, PAIRS)
    people = [make_person(shared, name, project, Role.ANNOTATOR) for name in ("ann", "ben")]
    boss = make_person(shared, "boss", administrator=True)
    with apps(home) as running:
        tokens_ = [tokens.make(shared, person, "tests", START) for person in people]
        with ThreadPoolExecutor(2) as pool:
            at_work = [
                pool.submit(label, running[at].client(token), running[1 - at].client(token), project)
                for at, token in enumerate(tokens_)
            ]
        served = [one.result() for one in at_work]
        token = tokens.make(shared, boss, "tests", START, scopes=[*Scope])
        said = [shown(app.client(token), project) for app in running]
    with reading(shared) as session:
        tasks = session.scalars(select(Task.id)).all()
        answered = session.scalars(select(Answer.task_id)).all()
        assert sorted(set(answered)) == sorted(tasks)
        assert len(answered) <= len(tasks) + 3  # whoever waits is given a last pair that the other one holds
    assert all(served) and sorted(set(served[0] + served[1])) == sorted(tasks)
    assert said[0] == said[1]
    assert not any(line.startswith("allpairs_workers{") for line in said[0][2])  # none was started
    assert len(said[0][1]["labels"]) == PAIRS
    assert f'allpairs_labels{{label="positive",project="Questions"}} {float(PAIRS)}' in said[0][2]


def shown(client: Any, project: int) -> tuple[Any, Any, list[str]]:
    """Return what a process shows of the project: progress, labels, and the installation's figures."""
    own = "allpairs_api_request_seconds"
    figures = [line for line in client.get("/metrics").text.splitlines() if own not in line]
    return (
        client.get(f"/api/v1/projects/{project}").json(),
        client.get(f"/api/v1/projects/{project}/labels").json(),
        figures,
    )


def test_whoever_read_up_to_an_answer_has_missed_no_earlier_one(
    shared: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are numbered when written, and visible when their transaction ends: both orders must agree."""
    project = make_project(shared, ["a", "b", "c"], auto_train=False)
    make_round(shared, project, 3)
    with reading(shared) as session:
        tasks = session.scalars(select(Task.id).order_by(Task.id)).all()
    written, go_on = threading.Event(), threading.Event()

    def slow(session: object, project_id: int, annotator: str, n: int) -> None:
        if annotator == "ann":
            written.set()
            go_on.wait(30)

    monkeypatch.setattr(queue, "note_fast_answers", slow)

    def tell(who: str, task: int) -> None:
        record(shared, project, who, [answer(f"key-{who}", task) | {"seconds": 1.0}])

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(tell, "ann", tasks[0])
        assert written.wait(30)
        second = pool.submit(tell, "ben", tasks[1])
        with pytest.raises(TimeoutError):
            second.result(timeout=0.5)
        seen, cursor, _ = page_of_labels(shared, project, 0, 10)
        go_on.set()
        first.result(), second.result()
    later, *_ = page_of_labels(shared, project, cursor, 10)
    assert {row["annotator"] for row in (*seen, *later)} == {"ann", "ben"}
