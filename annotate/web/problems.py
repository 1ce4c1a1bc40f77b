"""Errors of the REST API by RFC 9457: `application/problem+json` with one line that says what to do."""

from collections.abc import Mapping
from http import HTTPStatus

from pydantic import BaseModel, Field, ValidationError
from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


class Problem(BaseModel):
    """A problem with a request."""

    type: str = Field("about:blank", description="Always about:blank: the status says it all.")
    title: str = Field(description="The name of the status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong and what to do next, in one line.")


class Wrong(Exception):
    """A request that is answered with this problem."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the response that describes a problem."""
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail).model_dump_json()
    return Response(body, status, dict(headers or {}), MEDIA_TYPE)


def wrong_input(error: ValidationError, where: str) -> Wrong:
    """Return the problem of invalid input: 400 if it is not JSON, else 422 with the first place that is wrong."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return Wrong(400, f"{where}: {first['msg']}")
    place = ".".join(str(part) for part in (where, *first["loc"]))
    others = f"; {error.error_count() - 1} more" if error.error_count() > 1 else ""
    return Wrong(422, f"{place}: {first['msg']}{others}")
