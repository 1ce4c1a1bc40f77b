"""The site that the tests of this folder open."""

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from allpairs.annotate.frame.access import invitations
from allpairs.annotate.frame.web import sockets
from allpairs.db.domain import Role
from tests.helpers.factories import make_project
from tests.helpers.people import Clock, at, make_person
from tests.helpers.web import FakeSessions, Open, opener


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def sessions() -> FakeSessions:
    return FakeSessions()


@pytest.fixture
def open_site(engine: Engine, clock: Clock, sessions: FakeSessions, monkeypatch: pytest.MonkeyPatch) -> Open:
    monkeypatch.setattr(sockets, "LOOK_EVERY", 0.05)
    return opener(engine, clock, sessions)


@pytest.fixture
def project(engine: Engine) -> int:
    make_person(engine, "Root", administrator=True)
    return make_project(engine, ["a", "b"], name="<b>Mine</b>")


@pytest.fixture
def link(engine: Engine, project: int) -> str:
    return f"/{invitations.invite(engine, project, Role.ANNOTATOR, 7, at())}"


@pytest.fixture
def site(open_site: Open) -> TestClient:
    return open_site()
