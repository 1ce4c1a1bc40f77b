"""Projects."""

from allpairs.annotate.features.projects import schemas as m
from allpairs.annotate.features.projects.projects import ProjectRow, list_projects, project_by_name
from allpairs.annotate.kit.api.operation import ONE, Call, Operation
from allpairs.db.domain import Scope


def projects(call: Call) -> m.Projects:
    """List the projects in which the token's person has a role, without archived ones."""
    return m.Projects(projects=[_project(row) for row in list_projects(call.engine)])


def project(call: Call) -> m.Project:
    """Show one project, with its question and guidelines."""
    return _project(project_by_name(call.engine, call.here.name))


def _project(row: ProjectRow) -> m.Project:
    return m.Project(
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
    Operation("GET", "/projects", projects, m.Projects, Scope.READ),
    Operation("GET", ONE, project, m.Project, Scope.READ),
)
