"""The choice of a language, before and after sign-in, and the language of sign-in pages and of the frame."""

import re

import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allpairs.annotate.frame.access import invitations
from allpairs.annotate.frame.access.addresses import local_path
from allpairs.annotate.frame.language.catalog import COOKIE
from allpairs.annotate.frame.web import frame
from allpairs.db.domain import Role
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, at, make_person
from tests.helpers.web import SITE, Open, log_in, person_in

GERMAN = {"Accept-Language": "de-CH,de;q=0.9,en;q=0.8"}


@pytest.mark.parametrize(
    ("wanted", "there"),
    [
        ("/label?project=A%20B&annotator=C", "/label?project=A%20B&annotator=C"),
        ("/login?next=/label", "/login?next=/label"),
        ("", "/"),
        ("https://evil.example/", "/"),
        ("//evil.example", "/"),
        ("/\\evil.example", "/"),
        ("/\tevil", "/"),
    ],
)
def test_a_choice_is_remembered_and_leads_back_to_this_site(site: TestClient, wanted: str, there: str) -> None:
    assert local_path(wanted) == there
    answer = site.get("/language/fr", params={"next": wanted})
    assert (answer.status_code, answer.headers["location"]) == (303, there)
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=fr;")
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax", "Max-Age=31536000"} <= set(cookie.split("; "))
    assert '<html lang="fr" dir="ltr">' in site.get("/login").text


def test_a_language_that_there_is_not_changes_nothing(site: TestClient) -> None:
    answer = site.get("/language/tlh?next=/login")
    assert answer.headers["location"] == "/login" and "set-cookie" not in answer.headers


def test_without_sign_in_only_this_machine_chooses(open_site: Open) -> None:
    alone = open_site("http://localhost:8501", forced=False)
    cookie = alone.get("/language/de?next=/label").headers["set-cookie"]
    assert "Secure" not in cookie
    elsewhere = open_site("http://192.168.0.3:8501", forced=False, address="192.168.0.9")
    assert elsewhere.get("/language/de").status_code == 403


def test_whoever_is_signed_in_stays_so(site: TestClient, engine: Engine) -> None:
    person = make_person(engine, "Anna")
    log_in(site)
    site.get("/language/de")
    assert person_in(site) == person


def test_sign_in_speaks_the_browsers_language_until_a_choice(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    page = site.get("/login?next=/monitor", headers=GERMAN).text
    assert '<html lang="de" dir="ltr">' in page and "<h1>Anmelden</h1>" in page and ">Passwort</label>" in page
    assert 'href="/language/fr?next=%2Flogin%3Fnext%3D%252Fmonitor"' in page
    site.cookies.set(COOKIE, "en")
    assert "<h1>Sign in</h1>" in site.get("/login", headers=GERMAN).text
    site.cookies.set(COOKIE, "ar-XB")
    assert '<html lang="ar-XB" dir="rtl">' in site.get("/login").text


def test_what_went_wrong_is_said_in_the_language(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    form = {"Origin": SITE} | GERMAN
    wrong = site.post("/login", data={"name": "Anna", "password": "wrong"}, headers=form)
    assert wrong.status_code == 401 and "Passwort ist falsch" in wrong.text
    for _ in range(5):
        wrong = site.post("/login", data={"name": "Anna", "password": "wrong"}, headers=form)
    assert wrong.status_code == 429 and "in 15 Minuten" in wrong.text


def test_an_invitation_is_read_in_the_language(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Boss", administrator=True)
    project = make_project(engine, ["a", "b"], name="<Fragen>")
    path = f"/{invitations.invite(engine, project, Role.ANNOTATOR, 1, at())}"
    page = site.get(path, headers=GERMAN).text
    assert "Sie sind eingeladen" in page and "<b>&lt;Fragen&gt;</b>" in page and "annotiert und sieht" in page
    new = {"name": "Anna", "password": PASSWORD, "again": "another one"}
    assert "Passwörter sind verschieden" in site.post(path, data=new, headers={"Origin": SITE} | GERMAN).text
    short = {"name": "Anna", "password": "kurz", "again": "kurz"}
    assert (
        "Das Passwort hat 4 Zeichen; erlaubt sind 10"
        in site.post(path, data=short, headers={"Origin": SITE} | GERMAN).text
    )
    gone = site.get("/invitation/unknown", headers=GERMAN)
    assert gone.status_code == 404 and "um eine neue" in gone.text


@pytest.mark.parametrize(
    ("headers", "opening", "text"),
    [
        ({}, '<html lang="en" dir="ltr">', None),
        (GERMAN, '<html lang="de" dir="ltr">', "Verbindung unterbrochen"),
        ({"Cookie": f"{COOKIE}=ar-XB"}, '<html lang="ar-XB" dir="rtl">', None),
    ],
)
def test_the_frame_is_in_the_language_and_brings_script_texts(
    headers: dict[str, str], opening: str, text: str | None
) -> None:
    page = TestClient(Starlette(routes=frame.frame_routes({"label": "Label"}))).get("/label", headers=headers).text
    assert opening in page and page.count("<html") == 1
    texts = re.findall(r'<script type="application/json" id="allpairs-words">(.*?)</script>', page)
    assert len(texts) == 1 and (text in texts[0] if text else texts == ["{}"])
    assert page.index("allpairs-words") < page.index("language.js") < page.index("connection.js")
