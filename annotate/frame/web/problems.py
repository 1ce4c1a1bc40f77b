"""Errors of the REST API by RFC 9457: `application/problem+json` with one line that says what to do."""

import logging
from collections.abc import Mapping
from http import HTTPStatus

from pydantic import BaseModel, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from allpairs.db.errors import without_places
from allpairs.db.maintenance.error_messages import fault_of

MEDIA_TYPE = "application/problem+json"
JSON = "application/json"
LONGEST_BODY = 2_000_000  # bytes: enough for the most answers in one request, each with the longest note
FULL = 507  # no room
UNAVAILABLE = 503  # a disk or database cannot be written or does not answer

log = logging.getLogger(__name__)


class Problem(BaseModel):
    """A problem with a request."""

    type: str = Field("about:blank", description="Always about:blank: the status says it all.")
    title: str = Field(description="The name of the status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong and what to do next, in one line.")


class Wrong(Exception):
    """A request that is answered with this problem."""

    def __init__(self, status: int, detail: str, seconds: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.seconds = seconds

    @property
    def headers(self) -> dict[str, str]:
        """What else the response says: after how many seconds to ask again."""
        return {} if self.seconds is None else {"Retry-After": str(self.seconds)}


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that describes a problem, without the server's paths."""
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=without_places(detail)).model_dump_json()
    return Response(body, status, dict(headers or {}), MEDIA_TYPE)


def wrong_input(error: ValidationError, source: str) -> Wrong:
    """Return the problem of invalid input: 400 if it is not JSON, else 422 with the first place that is wrong."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return Wrong(400, f"{source}: {first['msg']}")
    place = ".".join(str(part) for part in (source, *first["loc"]))
    more = f"; {error.error_count() - 1} more" if error.error_count() > 1 else ""
    return Wrong(422, f"{place}: {first['msg']}{more}")


def wrong_fault(error: Exception) -> Wrong | None:
    """Return the problem of a fault of the disk or the database, and log what to do about it; None for other errors.

    The problem names no path: the API and the pages before signing in are read by others than whoever runs Allpairs.
    """
    fault = fault_of(error)
    if fault is None:
        return None
    log.error("%s (%s)", fault, error)
    return Wrong(
        FULL if fault.full else UNAVAILABLE, f"{fault.problem}: try again later. The server's log says what to do."
    )


async def json_body(request: Request) -> bytes:
    """Return the body. Raises Wrong if it is too long, whatever its length header says, or not declared as JSON.

    No page of another site can send a form as JSON, so none can act for the user where nobody signs in.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Wrong(415, f"send the body as {JSON}")
    body = bytearray()
    try:
        async for piece in request.stream():
            body += piece
            if len(body) > LONGEST_BODY:
                raise Wrong(413, f"the body has more than {LONGEST_BODY:,} bytes: send less at a time")
    except ClientDisconnect:
        raise Wrong(400, "the body ended early: send all of it") from None
    return bytes(body)
