"""The routes of the REST API: from the bytes of a request to a service and back.

The auth middleware runs before and says who asks; without it no request is answered.
"""

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Container, Mapping
from functools import cache, partial
from typing import Any

from pydantic import BaseModel, ValidationError
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route

from allpairs.annotate.api.openapi import description
from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.api.reference_page import POLICY, reference_page
from allpairs.annotate.frame.access.addresses import public_urls
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import Refused, require, require_scope
from allpairs.annotate.frame.web.base_path import DESCRIPTION, REFERENCE, ROOT, VERSION
from allpairs.annotate.frame.web.problems import JSON, Wrong, json_body, problem, wrong_fault, wrong_input
from allpairs.annotate.frame.web.work import Work
from allpairs.annotate.kit.api.operation import Call, Operation
from allpairs.annotate.kit.api.schema import IN_PATH, NAME
from allpairs.db.errors import Busy, InputError
from allpairs.db.files.logs import about
from allpairs.db.projects.projects import project_of
from allpairs.db.requests.turns import Gone
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

Answer = Callable[[Request], Awaitable[Response]]
Observe = Callable[[str, str, int, float], None]  # method, path template, status, seconds
BUSY = 429
# Requests at a time; of one person; and how many of one person may wait.
QUICK = (16, 8, 64)
SLOW = (32, 2, 16)
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
OF_PAGE = {"Content-Security-Policy": POLICY}

log = logging.getLogger(__name__)


def api(observe: Observe = lambda *_: None) -> Mount:
    """Return the routes of the API, with problem documents for Starlette's errors; observe: called for each request."""
    described = [
        Route(DESCRIPTION.removeprefix(ROOT), lambda request: Response(_document(_site()), 200, HEADERS, JSON)),
        Route(REFERENCE.removeprefix(ROOT), lambda request: HTMLResponse(_page(_site()), 200, HEADERS | OF_PAGE)),
    ]
    works = {False: Work(*QUICK), True: Work(*SLOW)}
    by_path: dict[str, dict[str, Operation]] = {}
    for one in OPERATIONS:
        by_path.setdefault(one.path, {})[one.method] = one
    routes = [
        Route(f"{VERSION}{path}", _timed(path, observe, _answering(by, works)), methods=list(by))
        for path, by in by_path.items()
    ]
    handlers: dict[Any, Any] = {HTTPException: _as_problem, Exception: _failed}
    mount = Mount(ROOT, Starlette(routes=[*described, *routes], exception_handlers=handlers))
    # Otherwise the root itself, or a line break, would leave the API.
    mount.path_regex = re.compile(f"^{ROOT}(?:/|$)(?P<path>.*)$", re.DOTALL)
    return mount


def _site() -> str:
    """Return the app's public address; empty if nobody set it."""
    return next(iter(public_urls()), "")


@cache
def _document(site: str) -> str:
    return description(OPERATIONS, site)


@cache
def _page(site: str) -> str:
    return reference_page(json.loads(_document(site)))


def _timed(path: str, observe: Observe, answer: Answer) -> Answer:
    """Wrap a handler so that it reports how long each request took."""

    async def timed(request: Request) -> Response:
        began = time.monotonic()
        status = 500
        try:
            response = await answer(request)
            status = response.status_code
        finally:
            observe(request.method, path, status, time.monotonic() - began)
        return response

    return timed


def _answering(by_method: dict[str, Operation], works: Mapping[bool, Work]) -> Answer:
    """Return the handler of all requests to one address."""

    async def answer(request: Request) -> Response:
        operation = by_method["GET" if request.method == "HEAD" else request.method]
        try:
            body = await json_body(request) if operation.has_body else b""
            return await works[operation.slow].do(request, partial(_answer, operation, request, body))
        except Gone:
            return Response(status_code=499)
        except Exception as error:
            wrong = _wrong(error)
            if wrong is None:
                raise
            return problem(wrong.status, wrong.detail, HEADERS | wrong.headers)

    return answer


def _wrong(error: Exception) -> Wrong | None:
    """Return the problem that an error is answered with; None if it is a mistake of ours."""
    if isinstance(error, Busy):
        return Wrong(BUSY, str(error), error.seconds)
    return error if isinstance(error, Wrong) else wrong_fault(error)


def _answer(operation: Operation, request: Request, body: bytes) -> Response:
    """Return the operation's response. Raises Wrong."""
    engine: Engine = request.state.engine
    named = {name: _named(name, value) for name, value in request.path_params.items()}
    try:
        require_scope(engine, operation.scope)
        project = _project(engine, operation.right, named["project_id"]) if "project_id" in named else None
        given = _body_given(operation, request, body) if operation.has_body else _query_given(operation, request)
        job_id = named.get("job_id", "")
        webhook_id = named.get("webhook_id", 0)
        call = Call(engine, request.state.annotator, project, job_id, webhook_id, given)
        with about(project=project and project.id):
            result = operation.answer(call)
    except Refused as error:
        raise Wrong(403, str(error)) from None
    except Busy:
        raise
    except InputError as error:
        raise Wrong(409, str(error)) from None
    return Response(result.model_dump_json(), operation.status, HEADERS, JSON)


def _named(name: str, value: str) -> Any:
    """Return the value of a path parameter. Raises Wrong for an impossible one."""
    try:
        if re.fullmatch(NAME, value):  # pydantic would allow spaces around a number
            return IN_PATH[name].validate_strings(value)
    except ValidationError:
        pass
    raise Wrong(404, f"there can be no {name} {value[:80]!r}")


def _project(engine: Engine, right: Right | None, project_id: int) -> Project:
    """Return the project of this number. Raises Wrong if the person cannot see it, Refused without the right."""
    with reading(engine) as session:
        try:
            found = project_of(session, project_id)
        except InputError as error:
            raise Wrong(404, str(error)) from None
        if found.deleted_at is not None:
            raise Wrong(404, f"the project {found.name!r} is in the bin: restore it first")
        if right is not None:
            require(session, right, project_id)
        return found


def _body_given(operation: Operation, request: Request, body: bytes) -> BaseModel:
    """Return the validated body. Raises Wrong."""
    assert operation.takes is not None
    _require_parameters(request, ())
    try:
        return operation.takes.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise wrong_input(error, "body") from None


def _query_given(operation: Operation, request: Request) -> BaseModel | None:
    """Return the validated query. Raises Wrong."""
    _require_parameters(request, operation.takes.model_fields if operation.takes is not None else ())
    try:
        return (
            operation.takes.model_validate_strings(dict(request.query_params)) if operation.takes is not None else None
        )
    except ValidationError as error:
        raise wrong_input(error, "query") from None


def _require_parameters(request: Request, known: Container[str]) -> None:
    """Raise Wrong for unknown or repeated query parameters."""
    named = [name for name, _ in request.query_params.multi_items()]
    for name in named:
        if name not in known or named.count(name) > 1:
            raise Wrong(422, f"query: {name[:80]!r} is not a parameter here, or is given twice")


def _as_problem(request: Request, error: HTTPException) -> Response:
    """Return the problem document of an unknown address or a method that it does not take."""
    said = {404: f"there is no such address: {REFERENCE} lists them", 405: "this address does not take that method"}
    return problem(error.status_code, said.get(error.status_code, error.detail), {**(error.headers or {}), **HEADERS})


def _failed(request: Request, error: Exception) -> Response:
    """Return the problem document of an unexpected error, and log the error."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "internal server error: see the server's log", HEADERS)
