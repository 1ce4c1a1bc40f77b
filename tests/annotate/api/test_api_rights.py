"""What each role may do over the REST API, and what it finds of other projects: nothing."""

from typing import Any

import pytest
from sqlalchemy import Engine, select
from starlette.testclient import TestClient

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.features.label.queue import serve
from allpairs.annotate.features.projects.lifecycle import archive_project, bin_project, restore_project
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import Role
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Answer, Lease
from tests.helpers.factories import keep_row, make_project, make_round
from tests.helpers.services.webhooks import add_webhook
from tests.helpers.web import answer, body_of, leased, member, of, refused, said

R = Role
ALL = frozenset({R.ADMINISTRATOR, R.ADJUDICATOR, R.ANNOTATOR, R.VIEWER})
MAY = {
    "project": ALL,
    "next_tasks": ALL - {R.VIEWER},
    "answers": ALL - {R.VIEWER},
    "labels": {R.ADMINISTRATOR},
    "groups": ALL - {R.ANNOTATOR},
    "group_changes": ALL - {R.ANNOTATOR},
    "change_texts": {R.ADMINISTRATOR},
    "withdraw_texts": {R.ADMINISTRATOR},
    "text_changes": {R.ADMINISTRATOR},
    "undo_texts": {R.ADMINISTRATOR},
    "metrics": ALL - {R.ANNOTATOR},
    "list_jobs": ALL - {R.ANNOTATOR},
    "job": ALL - {R.ANNOTATOR},
    "start_job": {R.ADMINISTRATOR},
    "cancel_job": {R.ADMINISTRATOR},
    "list_webhooks": {R.ADMINISTRATOR},
    "add_webhook": {R.ADMINISTRATOR},
    "list_deliveries": {R.ADMINISTRATOR},
    "delete_webhook": {R.ADMINISTRATOR},
    "match": ALL - {R.ANNOTATOR},
    "publish": {R.ADMINISTRATOR},
    "end_publication": {R.ADMINISTRATOR},
    "list_publications": ALL - {R.ANNOTATOR},
    "show_rater": ALL - {R.ANNOTATOR},
    "set_rater": frozenset(),  # administrators of the installation
    "run_rater": {R.ADMINISTRATOR},
    "resume_rater": {R.ADMINISTRATOR},
    "end_rater": {R.ADMINISTRATOR},
    "verdicts": {R.ADMINISTRATOR},
    "decisions": {R.ADMINISTRATOR},
    "decide": {R.ADMINISTRATOR},
    "clean_list": {R.ADMINISTRATOR},
}


def ask(asking: TestClient, operation: Any, project_id: int, job_id: str, webhook_id: int) -> Any:
    """Return the answer to a valid request."""
    path = operation.path.format(project_id=project_id, job_id=job_id, webhook_id=webhook_id)
    return asking.request(operation.method, path, json=body_of(operation.name))


@pytest.mark.parametrize("role", list(Role))
def test_each_role_gets_what_its_pages_show(engine: Engine, project: int, role: Role) -> None:
    asking = member(engine, project, role)
    job_id, webhook_id = jobs.request_round(engine, project), add_webhook(engine, project)
    keep_row(engine, project)
    assert {one.name for one in OPERATIONS} == {"projects", *MAY}
    for operation in OPERATIONS:
        if operation.name == "projects":
            continue
        found = ask(asking, operation, project, job_id, webhook_id)
        if role in MAY[operation.name]:
            assert found.status_code == operation.status, (operation.name, found.text)
        else:
            assert f"{role} of 'Questions'" in refused(found, 403)


def test_another_project_is_as_if_it_were_not_there(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b", "c"], name="Another")
    make_round(engine, other, 2)
    job_id, webhook_id = jobs.request_round(engine, other), add_webhook(engine, other)
    boss = member(engine, project, R.ADMINISTRATOR)
    for operation in OPERATIONS[1:]:
        there, nowhere = (refused(ask(boss, operation, number, job_id, webhook_id), 404) for number in (other, 999))
        assert there.replace(str(other), "") == nowhere.replace("999", "") and "Another" not in there
    for method in ("GET", "DELETE"):  # the job of another project, by way of one's own
        assert "has no job" in refused(boss.request(method, of(project, f"/jobs/{job_id}")), 404)
    assert open_jobs.read_jobs(engine, other)[0].state == "waiting"
    for method, path in (("GET", "/deliveries"), ("DELETE", "")):
        found = boss.request(method, of(project, f"/webhooks/{webhook_id}{path}"))
        assert "has no webhook" in refused(found, 404)


def test_a_foreign_task_is_refused_and_a_held_one_stays_held(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b", "c"], name="Another")
    make_round(engine, other, 2)
    foreign = serve(engine, other, "somebody")[0][0].task_id
    ben, carl = member(engine, project, R.ANNOTATOR), member(engine, project, R.ADJUDICATOR)
    held = leased(ben, project)
    found = said(carl, project, answer("x", foreign), answer("y", 10**6), answer("z", held[0], "negative"))
    assert found["stored"] == ["z"] and [one["key"] for one in found["refused"]] == ["x", "y"]
    assert f"task {foreign} " in found["refused"][0]["reason"]
    with reading(engine) as session:
        holds = dict(session.execute(select(Lease.task_id, Lease.annotator)).tuples().all())
        rows = session.execute(select(Answer.project_id, Answer.annotator)).all()
    assert holds[held[0]] == "annotator" and holds[foreign] == "somebody"  # the lease is not taken away
    assert rows == [(project, "adjudicator")]  # it is Carl's own answer, as one that came late would be
    said(ben, project, answer("z", held[0]))
    with reading(engine) as session:
        assert [label.answer for label in current_labels(session, project)] == ["positive"]


def test_archived_projects_lease_nothing_and_take_no_answer(engine: Engine, project: int) -> None:
    ben, boss = member(engine, project, R.ANNOTATOR), member(engine, project, R.ADMINISTRATOR)
    first = leased(ben, project)[0]
    archive_project(engine, project)
    assert "is archived" in refused(ben.post(of(project, "/tasks"), json={}), 409)
    assert "is archived" in refused(boss.post(of(project, "/jobs"), json={"kind": "next_round"}), 409)
    late = {"answers": [answer("late", first)]}
    assert "is archived" in refused(ben.post(of(project, "/answers"), json=late), 409)
    restore_project(engine, project)
    assert said(ben, project, answer("late", first))["stored"] == ["late"]
    archive_project(engine, project)
    assert ben.get(of(project)).json()["state"] == "archived" and ben.get("/projects").json() == {"projects": []}
    bin_project(engine, project)
    assert "in the bin" in refused(ben.get(of(project)), 404)
