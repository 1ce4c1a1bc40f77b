"""Answers that a browser sends by itself: whose, from where, and stored once."""

from json import dumps
from typing import Any

import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.api import browser_answers
from allpairs.annotate.features.projects.lifecycle import archive_project
from allpairs.annotate.frame.web import login_routes
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.db.domain import Role
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Answer, Task
from tests.helpers.factories import make_project, make_round
from tests.helpers.people import Clock, make_person
from tests.helpers.web import FakeSessions, log_in

HERE = "http://localhost:8501"


@pytest.fixture
def task(engine: Engine) -> Task:
    project_id = make_project(engine, [f"text {i}" for i in range(8)], auto_train=False)
    make_round(engine, project_id, 3)
    with reading(engine) as session:
        return session.scalars(select(Task)).first()


@pytest.fixture
def site(engine: Engine) -> TestClient:
    middleware = Middleware(AuthMiddleware, is_forced=lambda: False, clock=Clock(), sessions=FakeSessions())
    routes = [browser_answers.answers_route(), *login_routes.login_routes(dict, Clock())]
    return TestClient(Starlette(routes=routes, middleware=[middleware]), HERE, client=("127.0.0.1", 1))


def send(site: TestClient, task: Task, annotator: str = "zoe", origin: str | None = HERE, **more: Any) -> Any:
    events = [{"key": "k-1", "task_id": task.id, "answer": "positive", "at": "2026-01-01T00:00:00Z", "n": 1}]
    body = {"annotator": annotator, "events": events} | more
    headers = {} if origin is None else {"Origin": origin}
    return site.post(f"/answers/{task.project_id}", json=body, headers=headers)


def stored(engine: Engine) -> list[tuple[str, str]]:
    with reading(engine) as session:
        return [(one.annotator, one.answer) for one in session.scalars(select(Answer))]


def test_an_answer_is_stored_once_under_its_name(site: TestClient, engine: Engine, task: Task) -> None:
    for _ in range(2):
        assert send(site, task).json() == {"stored": ["k-1"], "refused": {}}
    assert stored(engine) == [("zoe", "positive")]


def test_no_answer_is_lost_by_its_note(site: TestClient, engine: Engine, task: Task) -> None:
    event = {"key": "k", "task_id": task.id, "answer": "negative", "note": "a\0b\ud800"}
    body = dumps({"annotator": "zoe", "events": [event]})
    headers = {"Origin": HERE, "Content-Type": "application/json"}
    assert site.post(f"/answers/{task.project_id}", content=body, headers=headers).json()["stored"] == ["k"]
    with reading(engine) as session:
        assert session.scalars(select(Answer.note)).all() == ["ab?"]


def test_what_is_no_answer_of_this_project_is_refused(site: TestClient, engine: Engine, task: Task) -> None:
    assert send(site, task, origin="http://localhost:9999").status_code == 403
    assert send(site, task, origin=None).status_code == 403
    assert send(site, task, events=[{}] * 5_001).status_code == 422
    assert send(site, task, events="x").status_code == 422
    assert site.post(f"/answers/{task.project_id}", data={"a": 1}, headers={"Origin": HERE}).status_code == 415
    assert list(send(site, task, events=[{"key": "k", "task_id": 10**6, "answer": "skip"}]).json()["refused"]) == ["k"]
    assert site.post("/answers/999", json={"annotator": "a", "events": []}, headers={"Origin": HERE}).status_code == 404
    for number in (2**31, 2**63, 10**30):
        assert (
            site.post(f"/answers/{number}", json={"annotator": "a", "events": []}, headers={"Origin": HERE}).status_code
            == 404
        )
    assert site.post("/answers/" + "9" * 5_000, json={}, headers={"Origin": HERE}).status_code == 414
    archive_project(engine, task.project_id)
    assert send(site, task).status_code == 409 and stored(engine) == []


def test_where_people_sign_in_only_their_own_answers_are_taken(site: TestClient, engine: Engine, task: Task) -> None:
    make_person(engine, "Anna", task.project_id, Role.ANNOTATOR)
    make_person(engine, "Vera", task.project_id, Role.VIEWER)
    assert send(site, task, "Anna").status_code == 401
    log_in(site, "Vera")
    assert send(site, task, "Vera").status_code == send(site, task, "Anna").status_code == 403
    log_in(site, "Anna")
    assert send(site, task, "Vera").status_code == 403 and send(site, task, "Anna").status_code == 200
    assert stored(engine) == [("Anna", "positive")]
