"""The routes of the REST API: from the bytes of a request to a service and back.

The auth middleware runs before and says who asks; without it no request is answered.
"""

import json
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping
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
from allpairs.annotate.kit.api import PATH_NAME, PATH_TYPES, Call, Operation
from allpairs.db.errors import Busy, InputError
from allpairs.db.files.logs import about
from allpairs.db.projects.projects import project_of
from allpairs.db.requests.turns import Gone
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project

Handler = Callable[[Request], Awaitable[Response]]
Observe = Callable[[str, str, int, float], None]  # method, path template, status, seconds
TOO_MANY = 429
# Requests at a time; of one person; and how many of one person may wait.
QUICK = (16, 8, 64)
SLOW = (32, 2, 16)
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
PAGE_HEADERS = HEADERS | {"Content-Security-Policy": POLICY}

log = logging.getLogger(__name__)


def api(observe: Observe = lambda *_: None) -> Mount:
    """Return the routes of the API, with problem documents for Starlette's errors; observe: called for each request."""
    described = [
        Route(DESCRIPTION.removeprefix(ROOT), lambda request: Response(_document(_site()), 200, HEADERS, JSON)),
        Route(REFERENCE.removeprefix(ROOT), lambda request: HTMLResponse(_page(_site()), 200, PAGE_HEADERS)),
    ]
    works = {False: Work(*QUICK), True: Work(*SLOW)}
    by_path: dict[str, dict[str, Operation]] = {}
    for operation in OPERATIONS:
        by_path.setdefault(operation.path, {})[operation.method] = operation
    routes = [
        Route(f"{VERSION}{path}", _timed(path, observe, _answering(by_method, works)), methods=list(by_method))
        for path, by_method in by_path.items()
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


def _timed(path: str, observe: Observe, handler: Handler) -> Handler:
    """Wrap a handler so that it reports how long each request took."""

    async def timed(request: Request) -> Response:
        began = time.monotonic()
        status = 500
        try:
            response = await handler(request)
            status = response.status_code
        finally:
            observe(request.method, path, status, time.monotonic() - began)
        return response

    return timed


def _answering(by_method: dict[str, Operation], works: Mapping[bool, Work]) -> Handler:
    """Return the handler of all requests to one path."""

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
        return Wrong(TOO_MANY, str(error), error.seconds)
    return error if isinstance(error, Wrong) else wrong_fault(error)


def _answer(operation: Operation, request: Request, body: bytes) -> Response:
    """Return the operation's response. Raises Wrong."""
    engine: Engine = request.state.engine
    path_values = {name: _path_value(name, value) for name, value in request.path_params.items()}
    try:
        require_scope(engine, operation.scope)
        project_id = path_values.pop("project_id", None)
        project = None if project_id is None else _project(engine, operation.right, project_id)
        call = Call(engine, request.state.annotator, project, **path_values)
        model = _model(operation, request, body)
        with about(project=project_id):
            result = operation.answer(call) if model is None else operation.answer(call, model)
    except Refused as error:
        raise Wrong(403, str(error)) from None
    except Busy:
        raise
    except InputError as error:
        raise Wrong(409, str(error)) from None
    return Response(result.model_dump_json(), operation.status, HEADERS, JSON)


def _path_value(name: str, value: str) -> Any:
    """Return the value of a path parameter. Raises Wrong for an impossible one."""
    try:
        if re.fullmatch(PATH_NAME, value):  # pydantic would allow spaces around a number
            return PATH_TYPES[name].validate_strings(value)
    except ValidationError:
        pass
    raise Wrong(404, f"there can be no {name} {value[:80]!r}")


def _project(engine: Engine, right: Right | None, project_id: int) -> Project:
    """Return the project of this number. Raises Wrong if the person cannot see it, Refused without the right."""
    with reading(engine) as session:
        try:
            project = project_of(session, project_id)
        except InputError as error:
            raise Wrong(404, str(error)) from None
        if project.deleted_at is not None:
            raise Wrong(404, f"the project {project.name!r} is in the bin: restore it first")
        if right is not None:
            require(session, right, project_id)
        return project


def _model(operation: Operation, request: Request, body: bytes) -> BaseModel | None:
    """Return the validated body or query; None if the operation takes neither. Raises Wrong."""
    in_query = operation.takes.model_fields if operation.takes is not None and not operation.has_body else ()
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in in_query or names.count(name) > 1:
            raise Wrong(422, f"query: {name[:80]!r} is not a parameter here, or is given twice")
    if operation.takes is None:
        return None
    try:
        if operation.has_body:
            return operation.takes.model_validate_json(body, strict=True)
        return operation.takes.model_validate_strings(dict(request.query_params))
    except ValidationError as error:
        raise wrong_input(error, "body" if operation.has_body else "query") from None


def _as_problem(request: Request, error: HTTPException) -> Response:
    """Return the problem document of an unknown path or a method that it does not take."""
    details = {404: f"there is no such address: {REFERENCE} lists them", 405: "this address does not take that method"}
    detail = details.get(error.status_code, error.detail)
    return problem(error.status_code, detail, {**(error.headers or {}), **HEADERS})


def _failed(request: Request, error: Exception) -> Response:
    """Return the problem document of an unexpected error, and log the error."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "internal server error: see the server's log", HEADERS)
