"""An invitation as whoever opens it sees it."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import Engine
from starlette.testclient import TestClient

from allpairs.annotate.frame.access import people
from allpairs.db.domain import Role
from tests.helpers.people import PASSWORD, Clock, at, make_person
from tests.helpers.web import SITE, Open, log_in, person_in

FORM = {"Origin": SITE}
INTO = "/?project=%3Cb%3EMine%3C%2Fb%3E"


def buttons(page: str) -> list[str]:
    """Return what stands on the buttons of a page, links included, but not the choice of a language."""
    return re.findall(r'<(?:button|a class="button")[^>]*>([^<]+)<', page)


def test_an_invitation_makes_an_account_and_opens_the_project(site: TestClient, engine: Engine, link: str) -> None:
    offered = site.get(link)
    assert "&lt;b&gt;Mine&lt;/b&gt;" in offered.text and "annotator" in offered.text
    form = {"name": "Nora", "password": PASSWORD, "again": PASSWORD}
    for wrong, said in (({"again": "else"}, "passwords differ"), ({"password": "x", "again": "x"}, "10 to 1,000")):
        answer = site.post(link, data=form | wrong, headers=FORM)
        assert answer.status_code == 400 and said in answer.text and "set-cookie" not in answer.headers
    assert site.post(link, data=form, headers={"Origin": "https://evil.example"}).status_code == 403
    answer = site.post(link, data=form, headers=FORM)
    assert (answer.status_code, answer.headers["location"]) == (303, link)
    assert person_in(site) == people.id_of(engine, "Nora")
    for again in (site.get(link), site.post(link, headers=FORM)):  # opened twice, sent twice, by the button Back
        assert (again.status_code, again.headers["location"]) == (303, INTO)


def test_an_invitation_is_taken_up_by_who_is_signed_in(site: TestClient, engine: Engine, link: str) -> None:
    make_person(engine, "Anna")
    assert f"/login?next=%2F{link[1:].replace('/', '%2F')}" in site.get(link).text
    log_in(site)
    assert buttons(site.get(link).text) == ["Join as Anna", "Sign out, I am not Anna"]
    assert site.post(link, headers=FORM).headers["location"] == INTO
    assert {row.name: row.roles for row in people.list_people(engine, at())}["Anna"] == {"<b>Mine</b>": Role.ANNOTATOR}
    assert site.get(link).headers["location"] == INTO


@pytest.mark.parametrize("name", ["Root", "Anna"])
def test_whoever_is_in_the_project_does_not_use_an_invitation_up(
    site: TestClient, open_site: Open, engine: Engine, project: int, link: str, name: str
) -> None:
    make_person(engine, "Anna", project, Role.ADJUDICATOR)
    log_in(site, name)
    page = site.get(link).text
    assert "You are in <b>&lt;b&gt;Mine&lt;/b&gt;</b> as" in page and f'href="{INTO}"' in page
    assert buttons(page) == ["Open the project", f"Sign out, I am not {name}"]
    assert site.post(link, headers=FORM).headers["location"] == INTO
    assert "Create account" in open_site().get(link).text


def test_more_rights_are_offered_to_a_member(site: TestClient, engine: Engine, project: int, link: str) -> None:
    make_person(engine, "Vera", project, Role.VIEWER)
    log_in(site, "Vera")
    page = site.get(link).text
    assert "as viewer" in page and "as annotator" in page and "Join as Vera" in buttons(page)
    site.post(link, headers=FORM)
    assert [row.roles for row in people.list_people(engine, at())][1] == {"<b>Mine</b>": Role.ANNOTATOR}


def test_whoever_is_not_the_one_signed_in_can_leave(site: TestClient, engine: Engine, link: str) -> None:
    make_person(engine, "Anna")
    log_in(site)
    left = site.post(link, data={"leave": "1"}, headers=FORM)
    assert (left.status_code, left.headers["location"]) == (303, link)
    assert person_in(site) is None and "Create account" in site.get(link).text


def test_an_invitation_that_was_used_says_so(
    site: TestClient, open_site: Open, engine: Engine, project: int, link: str
) -> None:
    form = {"name": "Nora", "password": PASSWORD, "again": PASSWORD}
    site.post(link, data=form, headers=FORM)
    stranger = open_site()
    for answer in (stranger.get(link), stranger.post(link, data=form | {"name": "Mia"}, headers=FORM)):
        assert answer.status_code == 404 and "already used" in answer.text and buttons(answer.text) == ["Sign in"]
    make_person(engine, "Anna")
    log_in(stranger)
    answer = stranger.get(link)
    assert answer.status_code == 404 and "Sign out, I am not Anna" in buttons(answer.text)
    assert stranger.post(link, headers=FORM).status_code == 404


def test_an_invitation_that_is_over_says_why(site: TestClient, clock: Clock, link: str) -> None:
    clock.wait(timedelta(days=8))
    assert f"expired on {at(days=7):%Y-%m-%d}" in site.get(link).text
    assert site.get(f"{link}x").status_code == 404 and "whole link" in site.get(f"{link}x").text
