"""What an address of the REST API is, and what it is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.db.domain import Scope
from allpairs.db.schema.tables import Project

ONE = "/projects/{project_id}"
BUSY = {409: "The state of the project does not allow it; the problem says why, and what to do."}


@dataclass(frozen=True)
class Call:
    """A checked request: who asks for what."""

    engine: Engine  # for whoever asks
    annotator: str
    project: Project | None
    job_id: str = ""
    webhook_id: int = 0
    given: Any = None  # the body, or the query

    @property
    def here(self) -> Project:
        """The project that the address names."""
        assert self.project is not None
        return self.project


@dataclass(frozen=True)
class Operation:
    """An address with its method, and everything that its description says."""

    method: str
    path: str
    answer: Callable[[Call], BaseModel]
    result: type[BaseModel]
    scope: Scope  # of the token
    takes: type[BaseModel] | None = None  # the body, or the query of a GET
    right: Right | None = None  # in the project; without one: any role
    status: int = 200
    problems: dict[int, str] = field(default_factory=dict)  # beyond those of every address
    slow: bool = False  # whether it takes turns with other slow ones, of which few run at a time

    @property
    def name(self) -> str:
        """The operation's id in the OpenAPI document."""
        return self.answer.__name__

    @property
    def has_body(self) -> bool:
        """Whether a request brings a body."""
        return self.method in ("POST", "PUT")
