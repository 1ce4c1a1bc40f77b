"""Operations of projects."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from allpairs.annotate.features.projects.projects import ProjectRow, list_projects, project_by_name
from allpairs.annotate.kit.api import PROJECT_PATH, ApiOutput, Call, Operation
from allpairs.db.domain import Kind, Scope


class ProjectDetails(ApiOutput):
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


class ProjectList(ApiOutput):
    """The projects, the newest first."""

    projects: list[ProjectDetails]


def projects(call: Call) -> ProjectList:
    """List the projects in which the token's person has a role, without archived ones."""
    return ProjectList(projects=[_project(row) for row in list_projects(call.engine)])


def project(call: Call) -> ProjectDetails:
    """Show one project, with its question and guidelines."""
    return _project(project_by_name(call.engine, call.project.name))


def _project(row: ProjectRow) -> ProjectDetails:
    return ProjectDetails(
        id=row.id,
        name=row.name,
        kind=row.kind,
        state="archived" if row.state == "archived" else "active",
        question=row.settings.question,
        guidelines=row.settings.guidelines,
        created_at=row.created_at,
        rounds=row.rounds,
        labels=sum(row.answers.values()),
    )


OPERATIONS = (
    Operation("GET", "/projects", projects, Scope.READ),
    Operation("GET", PROJECT_PATH, project, Scope.READ),
)
