"""The REST API for tests: behind the auth middleware, in this process, as one person calls it with a token."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.access import tokens
from allpairs.annotate.api.routes import api
from allpairs.annotate.web.middleware import AuthMiddleware
from allpairs.db.domain import Role, Scope
from tests.helpers.people import START, make_person
from tests.helpers.services.webhooks import WEBHOOK


def site(forced: bool = True, clock: Callable[[], datetime] = lambda: START) -> Starlette:
    """Return the API behind the auth middleware; forced: a token is needed even without accounts."""
    return Starlette(routes=[api()], middleware=[Middleware(AuthMiddleware, is_forced=lambda: forced, clock=clock)])


def browser(app: Starlette, token: str = "", address: str = "127.0.0.1") -> TestClient:
    """Return a client of the API at this address, for `get("/projects")` and the like."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(
        app, base_url="http://localhost/api/v1", headers=headers, raise_server_exceptions=False, client=(address, 1)
    )


def member(engine: Engine, project_id: int, role: Role | None, name: str = "", **more: bool) -> TestClient:
    """Return a client of the API for a new person with this role in the project."""
    person_id = make_person(engine, name or (role or "stranger"), project_id, role, **more)
    return browser(site(), tokens.make(engine, person_id, "tests", START, scopes=[*Scope]))


def answer(key: str, task_id: int, answer: str = "positive", **more: Any) -> dict[str, Any]:
    """Return one event as a program sends it."""
    return {"key": key, "task_id": task_id, "answer": answer} | more


def body_of(operation: str, task_id: int = 1) -> dict[str, Any] | None:
    """Return a valid body for a request of this operation, None if it takes none."""
    bodies: dict[str, dict[str, Any]] = {
        "next_tasks": {"n": 1}, "answers": {"answers": [answer("k", task_id)]}, "start_job": {"kind": "next_round"},
        "add_webhook": WEBHOOK, "match": {"texts": ["a text"]}, "publish": {}, "end_publication": {},
        "change_texts": {"texts": [{"id": "new", "text": "a new text"}]}, "undo_texts": {},
        "withdraw_texts": {"ids": ["left-0"]},
        "set_rater": {"name": "another", "url": "http://localhost:1/v1", "model": "m"}, "run_rater": {"pairs": 3},
        "resume_rater": {}, "end_rater": {},
    }  # fmt: skip
    return bodies.get(operation)


def of(project_id: int, rest: str = "") -> str:
    """Return an address of the project."""
    return f"/projects/{project_id}{rest}"


def leased(asking: TestClient, project_id: int, n: int = 40) -> list[int]:
    """Return the ids of the tasks that are leased now."""
    found = asking.post(of(project_id, "/tasks"), json={"n": n})
    assert found.status_code == 200, found.text
    return [task["id"] for task in found.json()["tasks"]]


def said(asking: TestClient, project_id: int, *acts: dict[str, Any]) -> dict[str, Any]:
    """Return what became of these events."""
    found = asking.post(of(project_id, "/answers"), json={"answers": acts})
    assert found.status_code == 200, found.text
    return found.json()


def refused(found: Any, status: int) -> str:
    """Return the line of the problem, after checking the form that all problems have."""
    assert found.status_code == status, found.text
    assert found.headers["content-type"] == "application/problem+json"
    body = found.json()
    assert set(body) == {"type", "title", "status", "detail"} and body["status"] == status
    assert body["detail"] and "\n" not in body["detail"]
    return body["detail"]
