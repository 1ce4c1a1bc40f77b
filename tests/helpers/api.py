"""The REST API for tests: behind the gate, in this process, as one person asks it with a token of theirs."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from annotate.access import tokens
from annotate.api.routes import api
from annotate.web.middleware import AuthMiddleware
from db.domain import Role
from tests.helpers.people import START, make_person


def site(forced: bool = True, clock: Callable[[], datetime] = lambda: START) -> Starlette:
    """The API behind the gate; forced: a token is needed though there is no account."""
    return Starlette(routes=[api()], middleware=[Middleware(AuthMiddleware, is_forced=lambda: forced, clock=clock)])


def browser(app: Starlette, token: str = "", address: str = "127.0.0.1") -> TestClient:
    """What asks the API from this address; `get("/projects")` and the like."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return TestClient(
        app, base_url="http://localhost/api/v1", headers=headers, raise_server_exceptions=False, client=(address, 1)
    )


def member(engine: Engine, project_id: int, role: Role | None, name: str = "", **more: bool) -> TestClient:
    """The API as a new person with this role in the project asks it."""
    person_id = make_person(engine, name or (role or "stranger"), project_id, role, **more)
    return browser(site(), tokens.make(engine, person_id, "tests", START))


def answer(key: str, task_id: int, answer: str = "positive", **more: Any) -> dict[str, Any]:
    """One act as a program sends it."""
    return {"key": key, "task_id": task_id, "answer": answer} | more
