"""The page API: lines to copy for what one's role allows, and whether a token is needed."""

from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.team.ui.api_examples import curl_lines, python_lines
from allpairs.annotate.frame.access.roles import MAY, Right
from allpairs.annotate.frame.web.base_path import REFERENCE
from allpairs.annotate.kit.ui import state
from allpairs.db.domain import Role
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page

SITE = "https://pairs.example.org"


@pytest.fixture
def page(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    """Return the page of an app without accounts, which is reached at SITE."""
    monkeypatch.setattr(state, "is_forced", lambda: False)
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", SITE)
    return open_page(ROOT / "annotate" / "shell" / "app.py").switch_page("../pages/rest_api.py").run()


@pytest.mark.parametrize("page_of", ["no project", "a project"])
def test_without_accounts_no_token_is_needed(page_of: str, engine: Engine, request: pytest.FixtureRequest) -> None:
    project = None
    if page_of == "a project":
        with reading(engine) as session:
            project = session.get_one(Project, make_project(engine, ["a", "b"], name='Help "desk"'))
    page = request.getfixturevalue("page")
    assert not page.exception and "No token is needed" in page.info[0].value
    lines = curl_lines(SITE, project, frozenset(Right), False)
    assert [code.value for code in page.code] == [
        *lines.values(), python_lines(SITE, project, frozenset(Right), False)
    ]  # fmt: skip
    assert "TOKEN" not in str([code.value for code in page.code])
    assert page.get("link_button")[0].proto.url == f".{REFERENCE}"


@pytest.mark.parametrize(
    ("role", "shown"),
    [
        (Role.ADMINISTRATOR, ["", "/labels", "/tasks"]),
        (Role.ADJUDICATOR, ["", "/tasks", "/metrics"]),
        (Role.ANNOTATOR, ["", "/tasks", ""]),
        (Role.VIEWER, ["", "/metrics", ""]),
    ],
)
def test_each_role_is_shown_what_it_may(engine: Engine, role: Role, shown: list[str]) -> None:
    with reading(engine) as session:
        project = session.get_one(Project, make_project(engine, ["a", "b"]))
    lines = list(curl_lines(SITE, project, MAY[role], True).values())
    places = ["", f"/{project.id}", f"/{project.id}"]
    assert [line.rpartition("/projects")[2] for line in lines] == [
        place + end for place, end in zip(places, shown, strict=True)
    ]
