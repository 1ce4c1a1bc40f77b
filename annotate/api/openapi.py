"""The OpenAPI document, made from the operations and their models."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from allpairs.annotate.frame.web.base_path import ROOT, VERSION
from allpairs.annotate.frame.web.problems import FULL, MEDIA_TYPE, UNAVAILABLE, Problem
from allpairs.annotate.kit.api.operation import Operation
from allpairs.annotate.kit.api.schema import IN_PATH

ABOUT = (
    "Label pairs, read labels and figures, and start training, under the same rules as in the app. Make a token on "
    "the page API; it needs the scope that the address names under `security`. A project in which you have no role "
    "answers as if it did not exist (404)."
)
SCHEMAS = "#/components/schemas/{model}"
ALWAYS = {
    401: "The token is missing or not valid.",
    403: "Your role, or the token's scope, does not include it.",
    429: "Too many of your or your project's requests are waiting, or this address sent too many invalid tokens.",
    UNAVAILABLE: "The database does not answer or cannot be written, and nothing was stored: try again later.",
    FULL: "The server's disk is full, and nothing was stored: try again later.",
}
OF_PROJECT = {404: "Not found, or you have no access."}
OF_INPUT = {422: "The request does not match its description."}
OF_BODY = {
    400: "The body is not valid JSON.",
    413: "The body is too long.",
    415: "Content-Type must be application/json.",
}


def description(operations: Sequence[Operation], site: str = "") -> str:
    """Return the OpenAPI 3.1 document of these operations, as JSON. site: the app's public address, if it is known."""
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    bearer = {"type": "http", "scheme": "bearer"}
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Allpairs", "version": VERSION.removeprefix("/v"), "description": ABOUT},
            "servers": [{"url": f"{site}{ROOT}{VERSION}"}],
            "paths": paths,
            "components": {"schemas": _schemas(operations), "securitySchemes": {"token": bearer}},
        }
    )


def _operation(one: Operation) -> dict[str, Any]:
    about = (one.answer.__doc__ or "").strip()
    described: dict[str, Any] = {
        "operationId": one.name,
        "summary": about.splitlines()[0],
        "description": re.sub(r"\s+", " ", about),
        "security": [{"token": [one.scope.value]}],
        "parameters": list(chain(_in_path(one), _in_query(one))),
        "responses": {str(one.status): _content(one.result, "application/json", one.result.__doc__ or "")},
    }
    described["responses"] |= {str(status): _content(Problem, MEDIA_TYPE, why) for status, why in _problems(one)}
    if one.has_body and one.takes is not None:
        described["requestBody"] = _content(one.takes, "application/json") | {"required": True}
    return described


def _problems(one: Operation) -> Iterable[tuple[int, str]]:
    found = ALWAYS | OF_INPUT | one.problems
    found |= OF_PROJECT if "{" in one.path else {}
    return sorted((found | (OF_BODY if one.has_body else {})).items())


def _content(model: type[BaseModel], media_type: str, about: str = "") -> dict[str, Any]:
    content = {"content": {media_type: {"schema": {"$ref": SCHEMAS.format(model=model.__name__)}}}}
    return content | ({"description": about} if about else {})


def _in_path(one: Operation) -> Iterator[dict[str, Any]]:
    for name in re.findall(r"{(\w+)}", one.path):
        yield {"name": name, "in": "path", "required": True, "schema": IN_PATH[name].json_schema()}


def _in_query(one: Operation) -> Iterator[dict[str, Any]]:
    if one.method != "GET" or one.takes is None:
        return
    schema = one.takes.model_json_schema()
    for name, of in schema["properties"].items():
        yield {"name": name, "in": "query", "required": name in schema.get("required", ()), "schema": of}


def _schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the schema of each body: responses always have all fields, requests may leave some out."""
    asked = {one.takes for one in operations if one.takes is not None and one.has_body}
    given = {one.result for one in operations} | {Problem}
    models = [*((model, "validation") for model in asked), *((model, "serialization") for model in given)]
    ordered = sorted(models, key=lambda each: each[0].__name__)
    _, schemas = models_json_schema(ordered, ref_template=SCHEMAS)  # type: ignore[arg-type]
    return schemas["$defs"]
