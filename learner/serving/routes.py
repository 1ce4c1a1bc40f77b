"""The addresses of the serving process. Only the app calls them: each request shows the secret of this process."""

import hmac
import logging

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.learner.serving.desk import Answered, Desk, Question
from allpairs.learner.serving.loaded import StillLoading

MATCH = "/match"
LONGEST_BODY = 4_000_000  # bytes: the app takes half as many

log = logging.getLogger(__name__)


class Asked(BaseModel):
    """The body of a request, which the app has checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    project_id: int
    texts: list[str | dict[str, str]] = Field(max_length=100)
    k: int = Field(ge=1, le=100)
    side: Side
    why: bool


def application(desk: Desk, secret: str) -> Starlette:
    """Return the ASGI application."""

    async def match(request: Request) -> Response:
        if not _is_shown(request, secret):
            return _problem(401, "this process answers the app alone")
        try:
            asked = Asked.model_validate_json(await _body(request))
        except ValidationError as error:
            return _problem(422, str(error.errors(include_url=False, include_input=False)[0]["msg"]))
        return await run_in_threadpool(_match, desk, asked)

    return Starlette(routes=[Route(MATCH, match, methods=["POST"])])


def _is_shown(request: Request, secret: str) -> bool:
    shown = request.headers.get("authorization", "")
    return hmac.compare_digest(shown.encode(), f"Bearer {secret}".encode())


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST_BODY:
            return b""
    return bytes(body)


def _match(desk: Desk, asked: Asked) -> Response:
    question = Question(asked.project_id, asked.texts, asked.k, asked.side, asked.why)
    try:
        answer, answered = desk.match(question)
    except InputError as error:
        return _problem(503 if isinstance(error, StillLoading) else 409, str(error))
    except Exception:
        log.exception("a request for project %d failed", asked.project_id)
        return _problem(500, "the process that answers `match` failed: its log says why")
    return JSONResponse(answer, background=BackgroundTask(_compare, desk, answered))


def _compare(desk: Desk, answered: Answered) -> None:
    """Compare with the shadow, once the answer is sent: nobody waits for it, and no failure of it reaches anyone."""
    try:
        desk.compare(answered)
    except Exception:
        log.exception("the shadow of project %d could not be compared", answered.question.project_id)


def _problem(status: int, detail: str) -> Response:
    return JSONResponse({"detail": detail}, status)
