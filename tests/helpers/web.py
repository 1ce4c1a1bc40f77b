"""The site and its REST API for tests, behind the auth middleware, as a browser or a program sees them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from allpairs.annotate.api.routes import api
from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.web import invitation_routes, language_routes, login_routes
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.sessions import Sessions, Visit
from allpairs.db.domain import Role, Scope
from tests.helpers.people import PASSWORD, START, Clock, make_person
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
        "decide": {"decisions": []},
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


SITE = "https://pairs.example.org"
COOKIE = "__Host-allpairs"
SESSION = "session-1"
PAGE = {"Accept": "text/html"}
Open = Callable[..., TestClient]


class FakeSessions(Sessions):
    """Sessions without Streamlit."""

    def __init__(self, **shown: Visit) -> None:
        self.shown = {SESSION: Visit("label")} | shown
        self.closed: list[str] = []
        self.dropped: list[tuple[str, str]] = []

    def visit(self, session: str) -> Visit | None:
        return self.shown.get(session)

    def drop_file(self, session: str, file: str) -> None:
        self.dropped.append((session, file))

    def close(self, session: str) -> None:
        self.closed.append(session)


def opener(engine: Engine, clock: Clock, sessions: Sessions) -> Open:
    """Return a function that opens a browser at the site; forced: people must sign in."""

    def page(request: Request) -> JSONResponse:
        return JSONResponse({"person": request.scope.get("state", {}).get("person")})

    async def store(request: Request) -> JSONResponse:
        return JSONResponse({"bytes": len(await request.body())}, 500 if request.query_params else 200)

    def open_(base: str = SITE, forced: bool = True, address: str = "127.0.0.1", ways: Any = None) -> TestClient:
        site = Starlette(
            routes=[
                *login_routes.login_routes(lambda: ways or {}, clock),
                *invitation_routes.invitation_routes(lambda: ways or {}, clock), *download_routes.routes(),
                language_routes.language_route(), WebSocketRoute("/_stcore/stream", _echo),
                Route("/healthz", page), Route("/static/js/x.js", page),
                Route("/_stcore/upload_file/{session}/{file}", store, methods=["PUT", "DELETE"]),
                Route("/{rest:path}", page),
            ],
            middleware=[Middleware(AuthMiddleware, is_forced=lambda: forced, clock=clock, sessions=sessions)],
        )  # fmt: skip
        return TestClient(site, base_url=base, client=(address, 50_000), follow_redirects=False)

    return open_


async def _echo(websocket: WebSocket) -> None:
    """Say what the script would see, and which session this is, and repeat the kind of each message."""
    headers = websocket.headers
    protocols = headers.get("sec-websocket-protocol", "")
    await websocket.accept(subprotocol="streamlit" if protocols else None)
    await websocket.send_json({"protocols": protocols, "cookies": websocket.cookies, "host": headers["host"]})
    message = ForwardMsg()
    message.new_session.initialize.session_id = SESSION
    await websocket.send_bytes(message.SerializeToString())
    try:
        while True:
            kind = BackMsg.FromString(await websocket.receive_bytes()).WhichOneof("type")
            await websocket.send_text(str(kind))
    except WebSocketDisconnect:
        return


def stream(site: TestClient) -> str:
    """Return the address of the page's websocket, with TLS if the site uses it."""
    return f"{str(site.base_url).replace('http', 'ws', 1).rstrip('/')}/_stcore/stream"


def connect(site: TestClient, **headers: str | None) -> AbstractContextManager[WebSocketTestSession]:
    """Open a page's websocket, as a browser does."""
    sent = {"Origin": str(site.base_url).rstrip("/")} | {name.replace("_", "-"): each for name, each in headers.items()}
    return site.websocket_connect(stream(site), headers={name: each for name, each in sent.items() if each is not None})


def opened(socket: WebSocketTestSession) -> Any:
    """Return what the script would see of the page that opened this socket."""
    seen = socket.receive_json()
    socket.receive_bytes()
    return seen


def log_in(site: TestClient, name: str = "Anna", password: str = PASSWORD, next_: str = "", **headers: str) -> Any:
    """Send the sign-in form."""
    form = {"name": name, "password": password, "next": next_}
    return site.post("/login", data=form, headers={"Origin": str(site.base_url).rstrip("/")} | headers)


def person_in(site: TestClient) -> int | None:
    """Return who is signed in."""
    return site.get("/", headers=PAGE).json()["person"] if site.get("/", headers=PAGE).status_code == 200 else None
