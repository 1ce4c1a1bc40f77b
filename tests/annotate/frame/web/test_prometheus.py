"""Figures for Prometheus: who may read them, and that they agree with the rows in every process."""

from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from allpairs.annotate.api.routes import api
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects.lifecycle import bin_project
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.web.middleware import AuthMiddleware
from allpairs.annotate.frame.web.prometheus import PATH, Telemetry
from allpairs.db.domain import Queue, Role, Scope
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Worker, now
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, add_worker
from tests.helpers.people import START, make_person

Figures = dict[tuple[str, ...], float]


def process(forced: bool = False) -> TestClient:
    """Return a local client of an app process; forced: people must sign in."""
    told = Telemetry()
    site = Starlette(
        routes=[told.route(), api(told.observe)],
        middleware=[Middleware(AuthMiddleware, is_forced=lambda: forced, clock=lambda: START)],
    )
    return TestClient(site, base_url="http://localhost", client=("127.0.0.1", 1))


def figures(client: TestClient) -> Figures:
    """Return each figure by its name and the values of its labels."""
    answer = client.get(PATH)
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(one.name, *one.labels.values()): one.value for family in families for one in family.samples}


@pytest.fixture
def installation(engine: Engine) -> Engine:
    """Return two projects, one in the bin, with answers, a lease, jobs and a worker."""
    ask = {"auto_train": False}
    project = make_project(engine, [f"text {at}" for at in range(6)], name='Named "A"', **ask)
    gone = make_project(engine, ["a", "b", "c"], name="Gone", **ask)
    for one in (project, gone):
        make_round(engine, one, 3)
        first, *_ = serve(engine, one, "ann", 2)[0]
        event = {"key": f"key-{one}", "task_id": first.task_id, "answer": "positive", "seconds": 1.0}
        assert record(engine, one, "ann", [event]).refused == {}
    for at, seconds in enumerate((0.5, 20, 20, 10**6)):
        add_job(
            engine, project, f"done-{at}", kind="search", state="done", created_at=now() - timedelta(seconds=seconds)
        )
    for kind in ("search", "next_round", "audit"):
        add_job(engine, project, f"waiting-{kind}", kind=kind)
    bin_project(engine, gone)
    add_worker(engine, "desk")
    with writing(engine) as session:
        session.add(Worker(executor_id="old", host="a", pid=1, device="cuda", queue=Queue.GPU,
                           seen_at=now() - timedelta(hours=1)))  # fmt: skip
    return engine


def test_every_process_tells_what_the_rows_say(installation: Engine) -> None:
    one, other = process(), process()
    found = figures(one)
    assert found == figures(other)
    assert {of[1:]: n for of, n in found.items() if of[0] == "allpairs_labels"} == {("positive", 'Named "A"'): 1}
    assert {of[1:]: n for of, n in found.items() if of[0] == "allpairs_leases"} == {('Named "A"',): 1}
    assert now().timestamp() - found["allpairs_last_answer_timestamp_seconds", 'Named "A"'] < 60
    assert found["allpairs_jobs", "search", "done"] == 4 and found["allpairs_jobs", "next_round", "waiting"] == 1
    assert (found["allpairs_queue_jobs", "cpu"], found["allpairs_queue_jobs", "gpu"]) == (3, 0)
    assert {of[1:]: n for of, n in found.items() if of[0] == "allpairs_workers"} == {("cpu", "cpu"): 1}
    took = [
        found["allpairs_job_seconds_bucket", "search", bound] for bound in ("1.0", "15.0", "60.0", "86400.0", "+Inf")
    ]
    assert took == [1, 1, 3, 3, 4]
    assert found["allpairs_job_seconds_count", "search"] == 4
    assert 1_000_040 < found["allpairs_job_seconds_sum", "search"] < 1_000_060


def test_how_long_requests_took_is_told_by_their_form(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    client = process()
    assert client.get(f"/api/v1/projects/{project}").status_code == 200
    assert client.get("/api/v1/projects/77").status_code == 404
    found = figures(client)
    for status in ("200", "404"):
        assert found["allpairs_api_request_seconds_count", "GET", "/projects/{project_id}", status] == 1


def test_with_accounts_only_an_administrators_program_reads_them(installation: Engine) -> None:
    boss = make_person(installation, "Boss", administrator=True)
    own = make_person(installation, "Own", 1, Role.ADMINISTRATOR)
    said = {}
    for name, person_id in {"boss": boss, "own": own}.items():
        token = tokens.make(installation, person_id, "prometheus", START, scopes=[Scope.ADMINISTER])
        said[name] = process(True).get(PATH, headers={"Authorization": f"Bearer {token}"}).status_code
    assert said == {"boss": 200, "own": 403}
    assert process(True).get(PATH).status_code == 401
    elsewhere = TestClient(process().app, base_url="http://10.0.0.7", client=("10.0.0.1", 1))
    assert elsewhere.get(PATH).status_code in (401, 403)
