"""The addresses of the serving process. Only the app calls them: each request proves that it knows the secret."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from allpairs.db.domain import Side
from allpairs.db.errors import Busy, InputError
from allpairs.db.requests.server_proof import (
    CHALLENGE,
    MATCH,
    SCHEME,
    app_proof,
    is_proof,
    new_challenge,
    process_proof,
)
from allpairs.db.requests.turns import Gone, Receive, Turns
from allpairs.learner.serving.desk import AnsweredQuestion, Desk, MatchQuestion
from allpairs.learner.serving.loaded import PATIENCE, StillLoading

LONGEST_BODY = 4_000_000  # bytes: the app takes half as many
LONGEST_CHALLENGE = 100  # bytes
MOST_OPEN = 100_000  # challenges that wait for a request: nobody can push out the app's within a moment
RUNNING = 1  # requests that are answered at a time
WAITING = 16  # requests of one project that wait

log = logging.getLogger(__name__)


class MatchRequest(BaseModel):
    """The body of a request, which the app has checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    project_id: int
    texts: list[str | dict[str, str]] = Field(max_length=100)
    k: int = Field(ge=1, le=100)
    side: Side
    why: bool


def application(desk: Desk, secret: str) -> Starlette:
    """Return the ASGI application."""
    door = _Door(secret)
    turns = Turns(RUNNING, RUNNING, WAITING)

    async def match(request: Request) -> Response:
        expected = door.expected(request.headers.get("authorization", ""))
        body = await _body(request, LONGEST_BODY) if expected else b""
        if expected is None or not expected(body):
            return _problem(401, "this process answers the app alone")
        try:
            question = MatchRequest.model_validate_json(body)
        except ValidationError as error:
            return _problem(422, str(error.errors(include_url=False, include_input=False)[0]["msg"]))
        return await _answer(desk, turns, question, request.receive)

    routes = [Route(CHALLENGE, door.challenge, methods=["POST"]), Route(MATCH, match, methods=["POST"])]
    return Starlette(routes=routes)


class _Door:
    """What this process has been asked to prove, and what it asks of the app."""

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._open: dict[str, str] = {}  # the app's challenge by ours, the newest last

    async def challenge(self, request: Request) -> Response:
        """Prove that this process knows its secret, and ask the same of the app."""
        app_challenge = (await _body(request, LONGEST_CHALLENGE)).decode(errors="replace")
        challenge = new_challenge()
        self._open[challenge] = app_challenge
        if len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open)))
        proof = process_proof(self._secret, app_challenge, challenge)
        return JSONResponse({"challenge": challenge, "proof": proof})

    def expected(self, authorization: str) -> Callable[[bytes], bool] | None:
        """Return whether this proves, with the body of its request, that the app knows the secret.

        None without a challenge of ours: each is good for one request.
        """
        challenge, _, proof = authorization.removeprefix(f"{SCHEME} ").partition(":")
        app_challenge = self._open.pop(challenge, None)
        if app_challenge is None:
            return None
        return lambda body: is_proof(proof, app_proof(self._secret, app_challenge, challenge, body))


async def _answer(desk: Desk, turns: Turns, question: MatchRequest, receive: Receive) -> Response:
    """Answer in turn; a model that is being loaded keeps nobody of another project waiting."""
    try:
        loading = await run_in_threadpool(desk.loaded.loading, question.project_id)
        if loading is not None:
            await _end_of(loading)
        async with turns.turn({question.project_id: 1}, receive):
            return await run_in_threadpool(_match, desk, question)
    except InputError as error:
        return _refusal(error)
    except Gone:
        return _problem(499, "the app waits no longer")


async def _end_of(loading: "Future[None]") -> None:
    """Wait for the end of a loading. Raises StillLoading where that takes longer than a request waits."""
    ending = asyncio.wrap_future(loading)
    ended, _ = await asyncio.wait({ending}, timeout=PATIENCE)
    if not ended:
        raise StillLoading
    ending.exception()  # whoever answers reports it


async def _body(request: Request, longest: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            return b""
    return bytes(body)


def _match(desk: Desk, request: MatchRequest) -> Response:
    question = MatchQuestion(request.project_id, request.texts, request.k, request.side, request.why)
    try:
        answer, answered = desk.match(question)
    except InputError as error:
        return _refusal(error)
    except Exception:
        log.exception("a request for project %d failed", request.project_id)
        return _problem(500, "the process that answers `match` failed: its log says why")
    return JSONResponse(answer, background=BackgroundTask(_compare, desk, answered))


def _compare(desk: Desk, answered: AnsweredQuestion) -> None:
    """Compare with the shadow, once the answer is sent: nobody waits for it, and no failure of it reaches anyone."""
    try:
        desk.compare(answered)
    except Exception:
        log.exception("the shadow of project %d could not be compared", answered.question.project_id)


def _refusal(error: InputError) -> Response:
    return _problem(503, str(error), error.seconds) if isinstance(error, Busy) else _problem(409, str(error))


def _problem(status: int, detail: str, seconds: int | None = None) -> Response:
    """Return the response that says what is wrong; seconds: after which to ask again."""
    return JSONResponse({"detail": detail, "seconds": seconds}, status)
