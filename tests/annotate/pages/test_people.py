"""The page People while there are no accounts: what accounts change, and the form that makes the first one."""

from pathlib import Path

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.frame.access import logins, people
from allpairs.annotate.kit.ui import state
from allpairs.db.domain import Role
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Membership, Person, now
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page
from tests.helpers.people import PASSWORD

APP = ROOT / "annotate" / "shell" / "app.py"


@pytest.fixture(autouse=True)
def alone(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make an app that only this machine reaches, with a project."""
    monkeypatch.setattr(state, "REMEMBERED", 0.0)
    monkeypatch.setattr(state, "is_forced", lambda: False)
    monkeypatch.setattr(state, "login_token", lambda: None)
    make_project(engine, ["a", "b"], name="Mine")


def people_page(**parameters: str) -> AppTest:
    page = open_page(APP, **parameters).switch_page("../pages/people.py").run()
    assert not page.exception
    return page


def test_three_hundred_members_come_in_pages_and_by_name(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    people.add_account(engine, "Root", PASSWORD, now(), administrator=True)
    with writing(engine) as session:
        for number in range(300):
            person = Person(name=f"Person {number:03}", folded=f"person {number:03}", changed_at=now())
            session.add(person)
            session.flush()
            session.add(Membership(person_id=person.id, project_id=1, role=Role.ANNOTATOR))
    token = logins.log_in(engine, "Root", PASSWORD, "1.1.1.1", now())
    monkeypatch.setattr(state, "login_token", lambda: token)
    page = people_page()
    rows = [box.label for box in page.selectbox if box.label.startswith("Role of")]
    assert rows == [f"Role of Person {number:03}" for number in range(20)] and len(page.button) < 60
    page.text_input(key="members_search").set_value("son 29").run()
    assert [box.label[-3:] for box in page.selectbox if box.label.startswith("Role of")] == [
        str(number) for number in range(290, 300)
    ]
    page.text_input(key="members_search").set_value("")
    page.session_state["members_page_1"] = 15
    page.run()
    assert [box.label[-3:] for box in page.selectbox if box.label.startswith("Role of")][-1] == "299"
    page.text_input(key="members_search").set_value("person 00").run()  # which has no page 15
    assert [box.label[-1] for box in page.selectbox if box.label.startswith("Role of")] == list("0123456789")


def make(page: AppTest, name: str, password: str, again: str) -> str:
    """Fill in and send the form, and return what is said of it."""
    for key, value in (("first_name", name), ("first_password", password), ("first_password_again", again)):
        page.text_input(key=key).input(value)
    next(button for button in page.button if button.label == "Make the first administrator").click().run()
    assert not page.exception
    return " ".join(box.value for box in (*page.error, *page.markdown) if "worker" not in box.value)


def test_the_first_administrator_is_made_and_has_to_sign_in(engine: Engine) -> None:
    page = people_page(annotator="Anna")
    assert "Invite" not in [one.value for one in page.subheader]  # a guest would be in charge of nobody
    assert "yours is **Anna** now" in " ".join(one.value for one in page.markdown)
    assert page.text_input(key="first_name").value == "Anna"
    assert "passwords differ" in make(page, "Anna", PASSWORD, "another one")
    assert "must have 10 to" in make(page, "Anna", "short", "short")
    assert "name has 0 characters" in make(page, " ", PASSWORD, PASSWORD)
    assert not people.list_people(engine, now())
    assert "not signed in" in make(page, "Anna", PASSWORD, PASSWORD)
    assert [(row.name, row.administrator) for row in people.list_people(engine, now())] == [("Anna", True)]
    assert logins.log_in(engine, "anna", PASSWORD, "127.0.0.1", now())


def test_who_is_late_is_told(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    page = people_page()
    monkeypatch.setattr(state, "REMEMBERED", 60.0)  # the page does not know yet
    page.run()
    people.add_account(engine, "Root", PASSWORD, now(), administrator=True)
    assert "made the first account" in make(page, "Ben", PASSWORD, PASSWORD)
    assert len(people.list_people(engine, now())) == 1


def test_where_users_must_sign_in_nobody_is_offered_the_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "is_forced", lambda: True)
    page = open_page(APP)
    assert "not signed in" in page.markdown[0].value and not page.text_input
