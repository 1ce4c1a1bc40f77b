"""The OpenAPI document, made from the operations and their models."""

import json
import re
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from allpairs.annotate.frame.web.base_path import ROOT, VERSION
from allpairs.annotate.frame.web.problems import FULL, MEDIA_TYPE, UNAVAILABLE, Problem
from allpairs.annotate.kit.api import PATH_TYPES, Operation

INTRODUCTION = (
    "Label pairs, read labels and figures, and start training, under the same rules as in the app. Make a token on "
    "the page API; it needs the scope that the address names under `security`. A project in which you have no role "
    "answers as if it did not exist (404)."
)
SCHEMAS = "#/components/schemas/{model}"
COMMON_PROBLEMS = {
    401: "The token is missing or not valid.",
    403: "Your role, or the token's scope, does not include it.",
    422: "The request does not match its description.",
    429: "Too many of your or your project's requests are waiting, or this address sent too many invalid tokens.",
    UNAVAILABLE: "The database does not answer or cannot be written, and nothing was stored: try again later.",
    FULL: "The server's disk is full, and nothing was stored: try again later.",
}
PROJECT_PROBLEMS = {404: "Not found, or you have no access."}
BODY_PROBLEMS = {
    400: "The body is not valid JSON.",
    413: "The body is too long.",
    415: "Content-Type must be application/json.",
}


class DocumentSchema(GenerateJsonSchema):
    """Schemas of requests, which may leave fields with a default out, and of responses, which always have all."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Return whether a field is always there."""
        return self.mode == "serialization" or super().field_is_required(field, total)


def description(operations: Sequence[Operation], site: str = "") -> str:
    """Return the OpenAPI 3.1 document of these operations, as JSON. site: the app's public address, if it is known."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    bearer = {"type": "http", "scheme": "bearer"}
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "Allpairs", "version": VERSION.removeprefix("/v"), "description": INTRODUCTION},
            "servers": [{"url": f"{site}{ROOT}{VERSION}"}],
            "paths": paths,
            "components": {"schemas": _schemas(operations), "securitySchemes": {"token": bearer}},
        }
    )


def _operation(operation: Operation) -> dict[str, Any]:
    text = (operation.answer.__doc__ or "").strip()
    result = operation.result
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": text.splitlines()[0],
        "description": re.sub(r"\s+", " ", text),
        "security": [{"token": [operation.scope.value]}],
        "parameters": _parameters(operation),
        "responses": {str(operation.status): _content(result, "application/json", result.__doc__ or "")},
    }
    described["responses"] |= {
        str(status): _content(Problem, MEDIA_TYPE, text) for status, text in sorted(_problems(operation).items())
    }
    if operation.has_body and operation.takes is not None:
        described["requestBody"] = _content(operation.takes, "application/json") | {"required": True}
    return described


def _problems(operation: Operation) -> dict[int, str]:
    of_project = PROJECT_PROBLEMS if "{" in operation.path else {}
    return COMMON_PROBLEMS | operation.problems | of_project | (BODY_PROBLEMS if operation.has_body else {})


def _content(model: type[BaseModel], media_type: str, text: str = "") -> dict[str, Any]:
    content = {"content": {media_type: {"schema": {"$ref": SCHEMAS.format(model=model.__name__)}}}}
    return content | ({"description": text} if text else {})


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    """Return the parameters of the path, then those of the query."""
    in_path = [
        {"name": name, "in": "path", "required": True, "schema": PATH_TYPES[name].json_schema()}
        for name in re.findall(r"{(\w+)}", operation.path)
    ]
    if operation.has_body or operation.takes is None:
        return in_path
    schema = operation.takes.model_json_schema()
    required = schema.get("required", ())
    definitions = {f"#/$defs/{name}": definition for name, definition in schema.get("$defs", {}).items()}
    in_query = [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": definitions.get(field.get("$ref"), {}) | {key: field[key] for key in field if key != "$ref"},
        }
        for name, field in schema["properties"].items()
    ]
    return in_path + in_query


def _schemas(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the schema of each body by the name of its model."""
    bodies = {operation.takes for operation in operations if operation.has_body and operation.takes is not None}
    results = {operation.result for operation in operations} | {Problem}
    models = [*((model, "validation") for model in bodies), *((model, "serialization") for model in results)]
    models.sort(key=lambda entry: entry[0].__name__)
    _, schemas = models_json_schema(models, ref_template=SCHEMAS, schema_generator=DocumentSchema)  # type: ignore[arg-type]
    return schemas["$defs"]
