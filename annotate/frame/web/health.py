"""Health checks for load balancers and containers, without sign-in: whether the process lives and can work."""

import asyncio
from tempfile import TemporaryFile

from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from allpairs.annotate.frame.web.work import Threads
from allpairs.db.schema.engine import artifacts, make_engine, newest_revision, revision

LIVES = "/healthz"
READY = "/readyz"
PATIENCE = 5.0  # seconds to wait for a database server


def health_routes() -> list[Route]:
    """Return the routes of both addresses."""
    threads = Threads(2)

    async def ready(request: Request) -> PlainTextResponse:
        return await _ready(threads)

    return [Route(LIVES, _alive), Route(READY, ready)]


async def _alive(request: Request) -> PlainTextResponse:
    return PlainTextResponse("ok")  # by the event loop itself, whatever else is going on


async def _ready(threads: Threads) -> PlainTextResponse:
    check = asyncio.ensure_future(threads.run(unready))
    finished, _ = await asyncio.wait({check}, timeout=PATIENCE)  # a late check keeps its thread, and is not cancelled
    if finished:
        wrong = check.result()
    else:
        wrong = f"the database or the artifact folder does not answer within {PATIENCE:g} seconds"
    return PlainTextResponse(wrong or "ready", 503 if wrong else 200)


def unready() -> str:
    """Return why the process cannot work now, in one line without addresses and names; empty if it can."""
    return _folder_problem() or _database_problem()


def _folder_problem() -> str:
    try:
        artifacts().mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=artifacts()) as file:
            file.write(b"1")
    except OSError as error:
        return f"cannot write to the artifact folder: {error.strerror}"
    return ""


def _database_problem() -> str:
    engine = make_engine()
    try:
        current_revision = revision(engine)
    except SQLAlchemyError:
        return "the database does not answer"
    finally:
        engine.dispose()
    newest = newest_revision()
    return (
        ""
        if current_revision == newest
        else f"the database has revision {current_revision}, but this version needs {newest}"
    )
