"""Words, messages and addresses that try to do more: each counts only as text, and only for its sender."""

import logging
import re
from typing import Any

import pytest
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import IntegrityError
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.features.download import routes as download_routes
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.label.ui import card
from allpairs.annotate.frame.access import invitations, logins
from allpairs.annotate.frame.web.login_routes import login_routes
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.db.corpus.formula import unguarded
from allpairs.db.domain import Role
from allpairs.db.labels.answers import count_own_answers
from allpairs.db.projects.items import items_with
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Answer, Item, Lease, Login
from allpairs.learner.reports.tables import as_csv
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page
from tests.helpers.people import PASSWORD, at, make_person, token_of
from tests.helpers.projects.pipelines import finished_questions, make_study

SITE = "https://pairs.example.org"
TEXTS = [
    "100% sure",
    "100 of them",
    "a_b",
    "acb",
    "'; DROP TABLE answers; --",
    '" OR "1"="1',
    "a\\b",
    "ab",
    "%",
    "[a-z]*",
]


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project of such texts with a batch."""
    project_id = make_project(engine, TEXTS, name="Mine", auto_train=False)
    make_round(engine, project_id, 6)
    return project_id


# SQL


@pytest.mark.parametrize("word", ["100%", "a_b", "'; DROP TABLE answers; --", '" OR "1"="1', "\\", "%", "[a-z]*", "'"])
def test_signs_of_sql_are_searched_as_they_are(engine: Engine, project: int, word: str) -> None:
    expected = [text for text in TEXTS if word in text]
    with reading(engine) as session:
        assert [item.text for item in items_with(session, project, [word], 100)] == expected
    for pair in serve(engine, project, "ann", 6)[0]:
        record(engine, project, "ann", [{"key": f"k{pair.task_id}", "task_id": pair.task_id, "answer": "negative"}])
    with reading(engine) as session:
        pairs = session.execute(select(Answer.left_id, Answer.right_id)).all()
        found = {item.id for item in session.scalars(select(Item)) if word in item.text}
        assert count_own_answers(session, project, "ann", words=word) == sum(bool(found & {*pair}) for pair in pairs)
        assert count_own_answers(session, project, "ann' OR 'a'='a", words="") == 0


def test_names_are_names_whatever_signs_they_have(engine: Engine, project: int) -> None:
    name = "Robert'); DROP TABLE projects; --%_"
    other = make_project(engine, ["a", "b"], name=name)
    page = open_page(ROOT / "annotate" / "pages" / "answers.py", project=name, annotator="x' OR 'a'='a")
    assert any("DROP TABLE" in text.value for text in page.markdown) and other != project


# The labelling card's messages


@pytest.mark.parametrize(
    "message",
    [None, [], "x", 7, {"attempt": "x"}, {"attempt": 1e400, "events": {}}, {"attempt": None, "events": "x" * 9},
     {"attempt": [[]], "events": 3, "has": [[], "x", None]}],
)  # fmt: skip
def test_a_message_of_another_shape_has_no_events(monkeypatch: pytest.MonkeyPatch, message: Any) -> None:
    monkeypatch.setattr(card.st, "session_state", {"card": {"outbox": message}})
    assert card.outbox("card") == card.CardMessage()


def test_a_message_without_end_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card.st, "session_state", {"card": {"outbox": {"attempt": 3, "events": [{}] * 100_000}}})
    assert len(card.outbox("card").events) == card.MOST_EVENTS


def test_forged_events_store_nothing_and_touch_no_other_lease(
    engine: Engine, project: int, caplog: pytest.LogCaptureFixture
) -> None:
    bens = serve(engine, project, "ben", 6)[0][0].task_id
    other = make_project(engine, ["a", "b"], name="Other", auto_train=False)
    make_round(engine, other, 1)
    foreign = serve(engine, other, "ben", 1)[0][0].task_id
    good = {"key": "k", "task_id": bens, "answer": "positive"}
    forged: list[Any] = [good | change for change in (
        {"task_id": foreign}, {"task_id": -1}, {"task_id": 0}, {"task_id": 2**53}, {"task_id": 10**400},
        {"task_id": 1e308}, {"task_id": [bens]}, {"task_id": None}, {"task_id": f"{bens}; --"}, {"key": ""},
        {"key": "k\nforged line"}, {"key": "x" * 10_000}, {"key": 7}, {"answer": "settles"}, {"answer": 1},
        {"seconds": -1}, {"seconds": float("inf")}, {"seconds": "x"}, {"note": "x" * 10**6}, {"note": {}},
    )]  # fmt: skip
    receipt = record(engine, project, "eve", [*forged, [], 3, None, {"key": "k"}, {}])
    assert receipt.stored == []
    assert not any("forged line" in line for line in caplog.text.splitlines() if not line.startswith("WARNING"))
    assert max(map(len, caplog.text.splitlines())) < 1_000
    with reading(engine) as session:
        assert session.scalar(select(func.count()).select_from(Answer)) == 0
        assert set(session.scalars(select(Lease.annotator))) == {"ben"}
    extra = good | {"annotator": "ben", "settles": True, "project_id": other, "lease": 1, "id": 1, "left_id": 9}
    assert record(engine, project, "eve", [extra]).stored == ["k"]  # late or not: it is Eve's own answer, no more
    with reading(engine) as session:
        (answer,) = session.scalars(select(Answer))
        assert (answer.annotator, answer.settles, answer.project_id) == ("eve", False, project)
        assert session.scalar(select(func.count()).select_from(Lease).where(Lease.task_id == bens)) == 1


# Addresses


@pytest.fixture
def site(engine: Engine) -> TestClient:
    made = [*login_routes(lambda: {}, at), *download_routes.routes()]
    middleware = [Middleware(AuthMiddleware, is_forced=lambda: True, clock=at)]
    return TestClient(Starlette(routes=made, middleware=middleware), base_url=SITE, follow_redirects=False)


def log_in(site: TestClient, name: str, password: str = PASSWORD) -> Any:
    return site.post("/login", data={"name": name, "password": password}, headers={"Origin": SITE})


def test_what_a_run_or_a_study_made_is_only_for_its_own_project(
    site: TestClient, engine: Engine, project: int, home: Any
) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    finished_questions(engine, other, "others")
    study = make_study(engine, other)
    make_person(engine, "Anna", project, Role.ADMINISTRATOR)
    make_person(engine, "Carl", other, Role.ADMINISTRATOR)
    mine = [f"/download/pipelines/{project}?run={run}&number={number}" for run, number in (
        ("others", "0"), ("..", "0"), ("../others", "0"), ("%2e%2e%2fothers", "0"), ("/etc/passwd", "0"),
        ("others", "-1"), ("others", "9" * 5_000), ("others", "²"), ("", ""),
    )]  # fmt: skip
    mine += [f"/download/studies/{project}?study={number}&what=ratings" for number in (study, "9" * 30, "-1", "x")]
    mine += [f"/download/labels/{'9' * 40}", f"/download/matchers/{'9' * 40}", f"/download/labels/{project}?form=../x",
             f"/download/labels/{project}?suffix=../../x", f"/download/matches/{project}?what=../../x"]  # fmt: skip
    log_in(site, "Anna")
    assert {address: site.get(address).status_code for address in mine} == dict.fromkeys(mine, 404)
    assert site.get(f"/download/studies/{other}?study={study}&what=ratings").status_code == 404
    log_in(site, "Carl")
    assert site.get(f"/download/pipelines/{other}?run=others&number=0").status_code == 200
    assert site.get(f"/download/studies/{other}?study={study}&what=ratings").status_code == 200


# Secrets


def test_no_secret_is_in_the_logs(
    site: TestClient, engine: Engine, project: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.DEBUG)
    anna = make_person(engine, "Anna", project, Role.ADMINISTRATOR)
    invitation = token_of(invitations.invite(engine, project, Role.ANNOTATOR, 1, at()))
    log_in(site, "Anna", "a wrong password")
    log_in(site, "Anna")
    token = site.cookies["__Host-allpairs"]
    site.get(f"/invitation/{invitation}", headers={"Accept": "text/html"})
    site.get("/login/ticket/a-secret-ticket")

    def broken(*_: Any, **__: Any) -> Any:
        with writing(engine) as session:  # what a database says that has lost a table
            session.add(Login(person_id=anna, token=token, created_at=at(), rotated_at=at(), seen_at=at()))
            session.flush()

    monkeypatch.setattr(logins, "log_in", broken)
    with pytest.raises(IntegrityError) as caught:
        log_in(site, "Anna")
    logging.getLogger("uvicorn.error").error("Exception in ASGI application", exc_info=caught.value)
    records = [record for record in caplog.records if not record.name.startswith("http")]  # that is the browser's log
    logged = "\n".join(map(caplog.handler.format, records))
    assert "Exception in ASGI application" in logged and "logins" in logged
    for secret in (PASSWORD, "a wrong password", token, invitation, "a-secret-ticket"):
        assert secret not in logged


def test_no_password_of_the_database_is_in_a_message() -> None:
    engine = make_engine("postgresql://allpairs:hunter2@localhost:1/x")
    assert "hunter2" not in f"{engine} {engine.url}"
    assert engine.hide_parameters and make_engine("sqlite://").hide_parameters


# Formulas


def test_tables_of_results_have_no_formulas() -> None:
    names = ["=1+1", "-x", "@sum", "+a", "\t=tab", "'=quoted", "plain", "-1.5", "a;=1", "＝1"]
    lines = as_csv([{"row": name, "value": -1.5} for name in names]).splitlines()
    cells = [line.rpartition(",")[0].strip('"') for line in lines[1:]]
    assert not [cell for cell in cells if re.search(r"(^|[;\t])[=＝+\-@]", cell) and cell != "-1.5"]
    assert [unguarded(cell) for cell in cells] == names
    assert all(line.endswith(",-1.5") for line in lines[1:])
