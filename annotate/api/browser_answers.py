"""The address to which a browser sends answers by itself, on whatever page it is: see web/unsent_answers.js."""

from json import loads
from typing import Any

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from allpairs.annotate.features.label.queue import record
from allpairs.annotate.frame.access.addresses import is_own
from allpairs.annotate.frame.access.mode import annotator_named
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.frame.web.middleware import engine_for
from allpairs.annotate.frame.web.problems import Wrong, json_body, problem, wrong_input
from allpairs.annotate.frame.web.work import Threads
from allpairs.annotate.kit.api import PATH_TYPES
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import PutAway
from allpairs.db.schema.engine import make_engine

PATH = "/answers/{project_id:int}"
MOST = 5_000  # answers in one request
THREADS = 40  # on PostgreSQL, answers of a project may wait for a long act in it
FOREIGN = "answers are sent from the app's own pages: open the page Label"
NOT_YOURS = "these answers are another person's: they are sent when that person signs in"


class Sent(BaseModel):
    """What a browser kept: acts of one annotator, as the card recorded them."""

    annotator: str
    events: list[dict[str, Any]] = Field(max_length=MOST)


def answers_route() -> Route:
    """Return the route."""
    threads = Threads(THREADS)

    async def answer(request: Request) -> Response:
        try:
            if not is_own(request.headers.get("origin"), request.headers.get("host")):
                raise Wrong(403, FOREIGN)
            return await threads.run(_store, request, await json_body(request))
        except Wrong as wrong:
            return problem(wrong.status, wrong.detail)

    return Route(PATH, answer, methods=["POST"])


def _store(request: Request, body: bytes) -> Response:
    try:
        sent = Sent.model_validate(
            loads(body)
        )  # pydantic's own reader refuses half of a character, and all answers with it
    except ValidationError as error:
        raise wrong_input(error, "body") from None
    except (ValueError, RecursionError):
        raise Wrong(400, "body: this is not JSON") from None
    guest = request.scope.get("state", {}).get("guest")
    project_id = request.path_params["project_id"]
    if guest is not None and guest.name != sent.annotator:
        raise Wrong(403, NOT_YOURS)
    try:
        PATH_TYPES["project_id"].validate_python(project_id)
    except ValidationError:
        raise Wrong(404, f"there can be no project {project_id}") from None
    engine = engine_for(request, make_engine())
    try:
        annotator = sent.annotator if guest is not None else annotator_named(engine, sent.annotator)
        receipt = record(engine, project_id, annotator, sent.events)
    except Refused as error:
        raise Wrong(403, str(error)) from None
    except PutAway as error:
        raise Wrong(409, str(error)) from None
    except InputError as error:
        raise Wrong(404, str(error)) from None
    finally:
        engine.dispose()
    return JSONResponse({"stored": receipt.stored, "refused": receipt.refused})
