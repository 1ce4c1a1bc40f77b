"""Projects."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from allpairs.annotate.kit.api.schema import Given
from allpairs.db.domain import Kind


class Project(Given):
    """A project in which the token's person has a role."""

    id: int
    name: str
    kind: Kind
    state: Literal["active", "archived"]
    question: str = Field(description="The question that annotators answer about each pair.")
    guidelines: str = Field(description="For annotators, in Markdown.")
    created_at: datetime
    rounds: int = Field(description="Number of batches so far.")
    labels: int = Field(description="Number of labelled pairs.")


class Projects(Given):
    """The projects, the newest first."""

    projects: list[Project]
