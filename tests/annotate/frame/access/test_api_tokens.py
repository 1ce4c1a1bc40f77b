"""API tokens: who creates and revokes them, what they allow, and for how long."""

import json
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from allpairs.annotate.api.routes import api
from allpairs.annotate.features.projects.history import changes, events
from allpairs.annotate.frame.access import logins, people, tokens
from allpairs.annotate.frame.web.base_path import DESCRIPTION, ROOT
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import ApiToken, LoginAttempt
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, Clock, at, make_person
from tests.helpers.services.commands import annotate, failure
from tests.helpers.web import browser, site


@pytest.fixture
def anna(engine: Engine) -> int:
    """Return the id of an annotator of project 1; Root administers the installation."""
    project_id = make_project(engine, ["a", "b", "c"], name="Mine")
    make_person(engine, "Root", administrator=True)
    return make_person(engine, "Anna", project_id, Role.ANNOTATOR)


def status(token: str, clock: Any = at, **more: str) -> int:
    return browser(site(clock=clock), token, **more).get("/projects").status_code


# How long it is good


def test_a_token_is_kept_as_its_hash_and_good_until_withdrawn(engine: Engine, anna: int) -> None:
    token, other = (tokens.make(engine, anna, purpose, at()) for purpose in ("one", "two"))
    assert token.startswith("allpairs_") and len(token) > 50 and token != other
    rows = tokens.list_tokens(engine, anna)
    assert [(row.purpose, row.token) for row in rows] == [
        (purpose, sha256(one.encode()).hexdigest()) for purpose, one in (("two", other), ("one", token))
    ]
    assert status(token) == 200
    with pytest.raises(InputError, match="no token number"):  # another person's
        tokens.withdraw_token(engine, people.id_of(engine, "Root"), rows[1].id)
    tokens.withdraw_token(engine, anna, rows[1].id)
    assert (status(token), status(other)) == (401, 200)
    newest = events(engine, None, 1).events[0]
    assert (newest.kind, newest.about, changes(newest)) == ("token withdrawn", "Anna", ["one → –"])


def test_a_token_ends_with_its_time(engine: Engine, anna: int) -> None:
    token, clock = tokens.make(engine, anna, "short", at(), days=1), Clock()
    clock.wait(timedelta(days=1) - timedelta(seconds=1))
    assert status(token, clock) == 200
    clock.wait(timedelta(seconds=1))
    assert status(token, clock) == 401


def test_it_is_known_when_a_token_was_used_last(engine: Engine, anna: int) -> None:
    token, clock = tokens.make(engine, anna, "x", at()), Clock()
    assert tokens.list_tokens(engine, anna)[0].used_at is None
    for minutes, known in ((1, 1), (9, 1), (1, 11)):
        clock.wait(timedelta(minutes=minutes))
        assert status(token, clock) == 200
        assert tokens.list_tokens(engine, anna)[0].used_at == at(known)


def end_by(engine: Engine, what: str, anna: int) -> None:
    """End Anna's logins in this way."""
    guest = logins.guest_of(engine, logins.log_in(engine, "Anna", PASSWORD, "here", at()), at())
    assert guest is not None
    if what == "disabled":
        people.disable(engine, anna, at())
        people.enable(engine, anna, at())
    elif what == "password by an administrator":
        people.set_password(engine, "Anna", "another password", at())
    elif what == "own password":
        logins.change_own_password(engine, guest, PASSWORD, "another password", "here", at())
    else:
        logins.log_out(engine, guest, at(), everywhere=what == "log out everywhere")


@pytest.mark.parametrize(
    ("what", "left"),
    [("disabled", 401), ("password by an administrator", 401), ("own password", 401), ("log out everywhere", 401),
     ("log out here", 200)],
)  # fmt: skip
def test_what_ends_all_logins_ends_tokens(engine: Engine, anna: int, what: str, left: int) -> None:
    token = tokens.make(engine, anna, "x", at())
    end_by(engine, what, anna)
    assert status(token) == left


def test_a_disabled_person_has_no_use_of_a_token_and_gets_none(engine: Engine, anna: int) -> None:
    people.disable(engine, anna, at())
    with pytest.raises(InputError, match="is disabled"):
        tokens.make(engine, anna, "x", at())


def test_a_login_that_has_ended_makes_no_token(engine: Engine, anna: int) -> None:
    guest = logins.guest_of(engine, logins.log_in(engine, "Anna", PASSWORD, "here", at()), at())
    assert guest is not None and tokens.make(engine, anna, "x", at(), login_id=guest.login_id)
    logins.log_out(engine, guest, at(), everywhere=True)
    with pytest.raises(InputError, match="sign in again"):  # by a page that has not heard of it yet
        tokens.make(engine, anna, "x", at(), login_id=guest.login_id)


@pytest.mark.parametrize(("purpose", "days"), [("", 1), (" ", 1), ("x" * 81, 1), ("a\nb", 1), ("x", 0), ("x", 4000)])
def test_a_token_has_a_purpose_and_a_time(engine: Engine, anna: int, purpose: str, days: int) -> None:
    with pytest.raises(InputError):
        tokens.make(engine, anna, purpose, at(), days)
    assert tokens.list_tokens(engine, anna) == []


# What it is good for


def everything(**options: Any) -> TestClient:
    """Return a client of the app: the API, and a page that names the user."""

    def page(request: Request) -> JSONResponse:
        return JSONResponse({"person": request.scope.get("state", {}).get("person")})

    app = Starlette(
        routes=[api(), Route("/{rest:path}", page)],
        middleware=[Middleware(AuthMiddleware, is_forced=lambda: True, clock=at)],
    )
    return TestClient(app, base_url="http://localhost", client=("127.0.0.1", 1), follow_redirects=False, **options)


def test_a_token_opens_no_page_and_a_login_no_api(engine: Engine, anna: int) -> None:
    token = tokens.make(engine, anna, "x", at())
    program = everything(headers={"Authorization": f"Bearer {token}"})
    assert program.get(f"{ROOT}/v1/projects").status_code == 200
    assert [program.get(path).status_code for path in ("/", "/download/labels/1", "/apis")] == [401] * 3
    person = everything(cookies={"allpairs": logins.log_in(engine, "Anna", PASSWORD, "here", at())})
    assert person.get("/").json() == {"person": anna}
    found = person.get(f"{ROOT}/v1/projects")
    assert found.status_code == 401 and found.headers["www-authenticate"] == "Bearer"
    assert everything(cookies={"allpairs": token}).get("/").status_code == 401  # a token is no login


def test_only_the_description_is_there_without_a_token(engine: Engine, anna: int) -> None:
    nobody = everything()
    assert nobody.get(DESCRIPTION).json()["openapi"] == "3.1.0"
    for path in (ROOT, f"{ROOT}/", f"{ROOT}/v1", f"{ROOT}/v1/nothing", f"{ROOT}/v1/projects", f"{ROOT}%0A/v1/projects"):
        assert nobody.get(path).status_code == 401, path
    for header in ("", "Bearer", "Bearer ", "Basic QW5uYTp4", "allpairs_x", f"Bearer {'x' * 9000}", "Bearer a b"):
        found = everything(headers={"Authorization": header}).get(f"{ROOT}/v1/projects")
        assert (found.status_code, found.headers["content-type"]) == (401, "application/problem+json"), header


def test_twenty_bad_tokens_of_an_address_are_enough(engine: Engine, anna: int) -> None:
    token, clock = tokens.make(engine, anna, "x", at()), Clock()
    bad, there = browser(site(clock=clock), "bad", "10.0.0.9"), browser(site(clock=clock), "bad", "10.0.0.10")
    assert [bad.get("/projects").status_code for _ in range(22)] == [401] * 20 + [429] * 2
    assert "in 15 minutes" in bad.get("/projects").json()["detail"]
    assert there.get("/projects").status_code == 401  # another address
    assert status(token, clock, address="10.0.0.9") == 200  # a good token of the same one
    assert logins.log_in(engine, "Anna", PASSWORD, "10.0.0.9", at())  # nobody is kept from the log-in page by it
    with reading(engine) as session:
        assert len(session.scalars(select(LoginAttempt.id)).all()) == 21  # those that wait write nothing
    clock.wait(logins.WINDOW)
    assert bad.get("/projects").status_code == 401


# The command line


def test_the_commands(engine: Engine, anna: int, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert annotate("people", "tokens", "Anna") == 0
    assert "Anna has no token" in capsys.readouterr().err
    assert annotate("people", "token", "anna", "--for", "nightly import", "--days", "9") == 0
    token = capsys.readouterr().out.strip()
    assert browser(site(), token).get("/projects").status_code == 200
    assert annotate("people", "tokens", "Anna", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["for"] == "nightly import" and row["made"] < row["until"] and token not in str(row)
    assert annotate("people", "tokens", "Anna") == 0
    assert "nightly import" in capsys.readouterr().out
    assert annotate("people", "withdraw", "Anna", str(row["number"])) == 0
    with reading(engine) as session:
        assert session.scalars(select(ApiToken)).all() == []
    assert "no token number" in failure(capsys, "people", "withdraw", "Anna", str(row["number"]))
    assert "nobody is named" in failure(capsys, "people", "token", "Zoe", "--for", "x")
