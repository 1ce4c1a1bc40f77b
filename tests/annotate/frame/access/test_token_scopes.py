"""Scopes of tokens: a program does what both its token's scopes and its person's role allow."""

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.features.label import queue
from allpairs.annotate.features.projects.history import changes, events
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.access.roles import WRITES, Right
from allpairs.annotate.frame.access.transactions import Refused, acting
from allpairs.annotate.frame.web.base_path import DESCRIPTION
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.prometheus import PATH as METRICS
from allpairs.annotate.frame.web.prometheus import Telemetry
from allpairs.annotate.kit.api import Operation
from allpairs.annotate.kit.jobs import open_jobs, requests
from allpairs.db.domain import Role, Scope
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import NEXT_ROUND, SEARCH
from allpairs.db.schema.engine import as_person, reading, writing
from allpairs.db.schema.tables import Job, Project
from tests.helpers.factories import keep_row, make_project, make_round
from tests.helpers.figures.measured import add_job
from tests.helpers.people import at, make_member, make_person
from tests.helpers.projects.lists import change
from tests.helpers.projects.results import answering, make_published
from tests.helpers.projects.two_projects import NoQueue
from tests.helpers.raters import add_rater
from tests.helpers.services.commands import annotate, failure
from tests.helpers.services.webhooks import add_webhook
from tests.helpers.web import answer, body_of, browser, site

JOB = "search-1"


@pytest.fixture
def project(engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> int:
    """Return a project with a batch, a published model, a job and a change of texts; jobs are rows alone."""
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    monkeypatch.setattr(open_jobs, "closing_client", NoQueue)
    project_id = make_project(engine, ["a", "b", "c"], name="Mine", auto_train=False)
    make_round(engine, project_id, 2)
    make_published(engine, project_id)
    keep_row(engine, project_id)
    answering(monkeypatch)
    change(engine, tmp_path, {"earlier": "e"}, name="Mine")
    add_job(engine, project_id, JOB, kind=SEARCH, state="running")
    add_webhook(engine, project_id)
    add_rater(engine, project_id)
    return project_id


def ask(token: str, operation: Operation, project_id: int) -> Any:
    """Return the answer to a valid request."""
    path = operation.path.format(project_id=project_id, job_id=JOB, webhook_id=1)  # the first one of the database
    return browser(site(), token).request(operation.method, path, json=body_of(operation.name))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_each_call_takes_its_scope_and_no_other(engine: Engine, project: int, operation: Operation) -> None:
    person_id = make_person(engine, "Root", administrator=True)  # whose role allows everything
    others = [scope for scope in Scope if scope != operation.scope]
    without, alone = (tokens.make(engine, person_id, "x", at(), scopes=of) for of in (others, [operation.scope]))
    refused = ask(without, operation, project)
    assert refused.status_code == 403 and f"'{operation.scope}'" in refused.json()["detail"]
    assert ask(alone, operation, project).status_code == operation.status
    described = browser(site()).get(f"http://localhost{DESCRIPTION}").json()["paths"]
    assert described[operation.path][operation.method.lower()]["security"] == [{"token": [operation.scope]}]


def test_all_scopes_allow_no_more_than_the_role(engine: Engine, project: int) -> None:
    person_id, _ = make_member(engine, project, Role.ANNOTATOR)
    token = tokens.make(engine, person_id, "x", at(), scopes=[*Scope])
    said = {one.name: ask(token, one, project).status_code for one in OPERATIONS}
    assert {name for name, status in said.items() if status == 403} == {
        "labels", "metrics", "list_jobs", "start_job", "job", "cancel_job", "list_webhooks", "add_webhook",
        "delete_webhook", "list_deliveries", "match", "publish", "end_publication", "list_publications", "groups",
        "group_changes", "change_texts", "text_changes", "undo_texts", "withdraw_texts",
        "show_rater", "set_rater", "run_rater", "resume_rater", "end_rater", "verdicts", "decisions", "decide",
        "clean_list",
    }  # fmt: skip


def test_a_scope_is_checked_where_something_is_written_too(engine: Engine, project: int) -> None:
    person_id = make_person(engine, "Root", administrator=True)
    for right, scope in WRITES.items():
        with acting(as_person(engine, person_id, {scope}), right, project):
            pass
        with pytest.raises(Refused, match=scope), acting(as_person(engine, person_id, set(Scope) - {scope}), right):
            pass
    assert set(WRITES) == set(Right) and Scope.READ not in WRITES.values()
    with acting(as_person(engine, person_id), Right.INSTALL) as session:  # no token: a page
        assert session.get(Project, project)


def test_what_an_answer_starts_takes_no_scope_of_its_own(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        mine = session.get_one(Project, project)
        mine.settings = mine.settings | {"auto_train": True}
    person_id, _ = make_member(engine, project, Role.ANNOTATOR)
    token = tokens.make(engine, person_id, "x", at(), scopes=[Scope.LABEL])
    tasks = [pair.task_id for pair in queue.serve(engine, project, "annotator")[0]]
    acts = {"answers": [answer(f"k{task}", task) for task in tasks]}
    assert browser(site(), token).post(f"/projects/{project}/answers", json=acts).status_code == 200
    with reading(engine) as session:
        assert {job.kind for job in session.query(Job)} == {SEARCH, NEXT_ROUND}


def test_metrics_take_the_scope_to_administer(engine: Engine) -> None:
    root = make_person(engine, "Root", administrator=True)
    app = Starlette(
        routes=[Telemetry().route()], middleware=[Middleware(AuthMiddleware, is_forced=lambda: True, clock=at)]
    )
    said = {}
    for scope in Scope:
        token = tokens.make(engine, root, scope, at(), scopes=[scope])
        said[scope] = TestClient(app).get(METRICS, headers={"Authorization": f"Bearer {token}"})
    assert {scope for scope, found in said.items() if found.status_code == 200} == {Scope.ADMINISTER}
    assert "'administer'" in said[Scope.READ].json()["detail"]


def test_a_token_reads_and_labels_unless_it_is_told_otherwise(engine: Engine) -> None:
    anna = make_person(engine, "Anna")
    tokens.make(engine, anna, "usual", at())
    tokens.make(engine, anna, "more", at(), scopes=[Scope.TRAIN, Scope.READ, Scope.READ])
    assert [row.scopes for row in tokens.list_tokens(engine, anna)] == [["read", "train"], ["read", "label"]]
    with pytest.raises(InputError, match="read, label, train, administer"):
        tokens.make(engine, anna, "none", at(), scopes=[])
    newest = events(engine, None, 1).events[0]
    assert (newest.kind, changes(newest)) == ("token made", ["purpose: more", "scopes: read, train"])


def test_the_command_names_scopes(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    make_person(engine, "Anna")
    assert annotate("people", "token", "Anna", "--for", "a", "--scope", "train", "--scope", "read") == 0
    assert annotate("people", "token", "Anna", "--for", "b") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert annotate("people", "tokens", "Anna", "--json") == 0
    found = {row["for"]: row["scopes"] for row in json.loads(capsys.readouterr().out)}
    assert found == {"a": "read, train", "b": "read, label"}
    assert "--scope" in failure(capsys, "people", "token", "Anna", "--for", "c", "--scope", "everything")
