"""What every operation of the REST API is made of: its description, its request, and the types that all share."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter
from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.db.domain import Scope
from allpairs.db.schema.tables import Project

PROJECT_PATH = "/projects/{project_id}"
CONFLICT = {409: "The state of the project does not allow it; the problem says why, and what to do."}
LARGEST_INTEGER = 2**31 - 1  # of both databases
WITHOUT_NUL = r"^[^\x00]*$"  # PostgreSQL stores no NUL character
URL_HOST = r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
PATH_NAME = r"^[A-Za-z0-9_-]{1,80}$"  # a parameter in a path


def as_integer(value: object) -> object:
    """Return a whole number as an integer: JSON makes no difference between 7.0 and 7."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Number = Annotated[int, Field(ge=1, le=LARGEST_INTEGER), BeforeValidator(as_integer)]
PATH_TYPES: dict[str, TypeAdapter[Any]] = {
    "project_id": TypeAdapter(Number),
    "job_id": TypeAdapter(Annotated[str, Field(pattern=PATH_NAME)]),
    "webhook_id": TypeAdapter(Number),
}


class ApiInput(BaseModel):
    """What a program sends: exactly the described fields."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ApiOutput(BaseModel):
    """What a program receives; a row or another object with these attributes will do."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class PageRequest(ApiInput):
    """Where a page starts, and how many entries it holds."""

    cursor: int = Field(0, ge=0, le=LARGEST_INTEGER, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=1_000)


class NewestRequest(ApiInput):
    """How many of the newest entries to list."""

    limit: int = Field(20, ge=1, le=100)


@dataclass(frozen=True)
class Call:
    """A checked request, without its body or query."""

    engine: Engine  # for whoever asks
    annotator: str
    project_row: Project | None
    job_id: str = ""
    webhook_id: int = 0

    @property
    def project(self) -> Project:
        """The project that the path names."""
        assert self.project_row is not None
        return self.project_row

    @property
    def project_id(self) -> int:
        """The number of the project that the path names."""
        return self.project.id


@dataclass(frozen=True)
class Operation:
    """A path with its method, and everything that its description says.

    The function `answer` takes a Call and, if it reads a body or a query, a model named `request`. Its annotations say
    what the operation takes and returns.
    """

    method: str
    path: str
    answer: Callable[..., BaseModel]
    scope: Scope  # of the token
    right: Right | None = None  # in the project; without one: any role
    status: int = 200
    problems: dict[int, str] = field(default_factory=dict)  # beyond those of every operation
    slow: bool = False  # whether it takes turns with other slow ones, of which few run at a time

    @property
    def name(self) -> str:
        """The operation's id in the OpenAPI document."""
        return self.answer.__name__

    @property
    def has_body(self) -> bool:
        """Whether a request brings a body."""
        return self.method in ("POST", "PUT")

    @cached_property
    def takes(self) -> type[BaseModel] | None:
        """The model of the body, or of the query of a GET; None without either."""
        model: type[BaseModel] | None = get_type_hints(self.answer).get("request")
        return model

    @cached_property
    def result(self) -> type[BaseModel]:
        """The model of the response's body."""
        model: type[BaseModel] = get_type_hints(self.answer)["return"]
        return model
