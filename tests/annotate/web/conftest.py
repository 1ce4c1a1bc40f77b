"""The site that the tests of this folder open."""

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from allpairs.annotate.web import sockets
from tests.helpers.people import Clock
from tests.helpers.site import FakeSessions, Open, opener


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
def site(open_site: Open) -> TestClient:
    return open_site()
