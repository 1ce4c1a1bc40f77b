"""The commands `people …`."""

import io
import json

import pytest
from sqlalchemy import Engine

from allpairs.annotate.frame.access import invitations, logins
from allpairs.annotate.frame.access.people import id_of
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import allowed
from allpairs.db.schema.engine import as_person
from allpairs.db.schema.tables import now
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, make_person
from tests.helpers.services.commands import annotate, failure


def with_password(monkeypatch: pytest.MonkeyPatch, password: str = PASSWORD) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password + "\n"))


def test_people_are_added_given_roles_and_put_out(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project_id = make_project(engine, ["a", "b"], name="Q")
    for name, *options in (("Anna", "--administrator"), ("Ben",)):
        with_password(monkeypatch)
        assert annotate("people", "add", name, *options) == 0
    assert annotate("people", "add", "Olga", "--issuer", "https://id.example", "--subject", "42") == 0
    assert annotate("people", "role", "ben", "annotator", "--project", "Q") == 0
    assert allowed(as_person(engine, id_of(engine, "Ben")), Right.LABEL, project_id)
    logins.log_in(engine, "Ben", PASSWORD, "here", now())
    capsys.readouterr()
    assert annotate("people", "list", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    shown = [(row["name"], row["administrator"], row["roles"], row["browsers"]) for row in rows]
    assert shown == [("Anna", True, {}, 0), ("Ben", False, {"Q": "annotator"}, 1), ("Olga", False, {}, 0)]
    assert annotate("people", "logout", "Ben") == 0
    assert capsys.readouterr().out == "1 logins ended\n"
    with_password(monkeypatch, "another password")
    assert annotate("people", "password", "Ben") == 0
    assert logins.log_in(engine, "Ben", "another password", "here", now())
    assert annotate("people", "disable", "Ben") == 0
    assert annotate("people", "list") == 0
    assert "disabled" in capsys.readouterr().out
    assert annotate("people", "enable", "Ben") == 0
    assert annotate("people", "role", "Ben", "none", "--project", "Q") == 0
    assert not allowed(as_person(engine, id_of(engine, "Ben")), Right.LABEL, project_id)
    assert annotate("people", "role", "Ben", "administrator") == 0
    assert annotate("people", "role", "Anna", "none") == 0


def test_an_invitation_is_a_link(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_project(engine, ["a", "b"], name="Q")
    make_person(engine, "Root", administrator=True)
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", "https://pairs.example.org/all/ https://other.example.org/all")
    assert annotate("people", "invite", "Q", "--role", "viewer") == 0
    link = capsys.readouterr().out.strip()
    assert link.startswith("https://pairs.example.org/all/invitation/")
    assert invitations.offer_of(engine, link.rpartition("/")[2], now()).role == "viewer"


def test_bad_input_is_one_line(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_password(monkeypatch, "short")
    assert "10 to 1,000" in failure(capsys, "people", "add", "Anna")
    assert "nobody is named 'Anna'" in failure(capsys, "people", "disable", "Anna")
    assert "belong together" in failure(capsys, "people", "add", "Anna", "--issuer", "x")
    assert "no role 'boss'" in failure(capsys, "people", "role", "Anna", "boss")
    assert "name it with --project" in failure(capsys, "people", "role", "Anna", "viewer")
    assert "people add --help" not in failure(capsys, "people", "invite", "None")
