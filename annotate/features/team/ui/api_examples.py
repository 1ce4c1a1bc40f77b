"""Lines that use the REST API, to be copied: with this server's address and this project filled in."""

from collections.abc import Set

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.base_path import ROOT, VERSION
from allpairs.db.schema.tables import Project

MOST_EXAMPLES = 3
VARIABLE = "ALLPAIRS_TOKEN"
# What it shows, the right that it takes in the project, the address, the body, and the same with the Python client.
OF_PROJECT: tuple[tuple[str, Right | None, str, str, str], ...] = (
    ("The labels of this project", Right.CHANGE, "/labels", "", 'next(project.labels(), "no label yet")'),
    ("The next two pairs to label", Right.LABEL, "/tasks", '{"n": 2}', "project.tasks(2)"),
    ("The figures of this project", Right.SEE, "/metrics", "", "project.metrics()"),
    ("This project", None, "", "", "project.name"),
)


def curl_lines(site: str, project: Project | None, rights: Set[Right], token: bool) -> dict[str, str]:
    """Return up to three calls by what they show, all of them allowed by these rights; token: whether one is needed."""
    api = f"{site}{ROOT}{VERSION}/projects"
    lines = {"Your projects": _curl(api, "", token)}
    if project is not None:
        lines |= {
            title: _curl(f"{api}/{project.id}{path}", body, token)
            for title, right, path, body, _ in OF_PROJECT
            if right is None or right in rights
        }
    return dict(list(lines.items())[:MOST_EXAMPLES])


def _curl(url: str, body: str, token: bool) -> str:
    parts = ["curl", *([f'-H "Authorization: Bearer ${VARIABLE}"'] if token else [])]
    parts += [f"-H 'Content-Type: application/json' -d '{body}'"] if body else []
    return " ".join([*parts, url])


def python_lines(site: str, project: Project | None, rights: Set[Right], token: bool) -> str:
    """Return a program of a few lines that does the first of these things that is allowed."""
    client = f'Client("{site}", os.environ["{VARIABLE}"])' if token else f'Client("{site}")'
    head = ["import os"] if token else []
    if project is None:
        return "\n".join([*head, "from allpairs import Client", "", f"print({client}.projects())"])
    act = next(code for _, right, _, _, code in OF_PROJECT if right is None or right in rights)
    lines = [f"project = {client}.project({project.name!r})", f"print({act})"]
    return "\n".join([*head, "from allpairs import Client", "", *lines])
