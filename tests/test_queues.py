"""Which queue a job waits in: by its kind and the workers that are alive, and moved as those come and go."""

from collections.abc import Callable, Iterator

import pytest
from dbos import DBOSClient
from sqlalchemy import Engine, text

from annotate.components.job_status import KINDS
from annotate.jobs import closing_client, request_audit, request_round
from db.domain import Queue
from db.engine import writing
from db.jobs import remove_worker, report_worker
from db.queues import queue_of
from learner.jobs import routing
from tests.factories import make_project

Where = Callable[[str], str]


@pytest.fixture
def where(home: object) -> Iterator[Where]:
    """What tells the queue that a job is in."""
    with closing_client() as client:
        yield lambda job_id: queued(client, job_id)


def queued(client: DBOSClient, job_id: str) -> str:
    (job,) = client.list_workflows(workflow_ids=[job_id])
    return str(job.queue_name)


def start(engine: Engine, name: str, queue: Queue | None) -> None:
    with writing(engine) as session:
        report_worker(session, name, name, 1, "cpu", queue)


def test_every_kind_of_job_has_a_queue_that_somebody_serves() -> None:
    assert {kind for kind in KINDS if queue_of(kind, Queue) is Queue.CPU} == {"audit", "preview", "search"}
    for kind in KINDS:
        for served in ({Queue.GPU}, {Queue.CPU}):
            assert queue_of(kind, served) in served
        assert queue_of(kind, ()) == queue_of(kind, Queue)


def test_jobs_go_where_they_are_served_and_move_when_that_changes(
    engine: Engine, where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(engine, "starting", None)
    heavy = request_round(engine, make_project(engine, ["a", "b"], name="A"))
    assert where(heavy) == "gpu"  # nobody serves any: it waits for the best one
    start(engine, "desk", Queue.CPU)
    light = request_audit(engine, make_project(engine, ["a", "b"], name="B"), 0)
    queues = routing.queue_engine()
    with closing_client() as client:
        monkeypatch.setattr(routing, "DBOS", client)
        routing.route(engine, queues)
        assert (where(heavy), where(light)) == ("cpu", "cpu")
        start(engine, "rack", Queue.GPU)
        routing.route(engine, queues)
        assert (where(heavy), where(light)) == ("gpu", "cpu")
        with writing(engine) as session:
            remove_worker(session, "desk", 1)
        routing.route(engine, queues)
        assert (where(heavy), where(light)) == ("gpu", "gpu")
    routing._move(queues, light, "cpu", "elsewhere")  # it was moved by another worker since this one looked
    schema = "dbos." if queues.dialect.name == "postgresql" else ""
    with queues.begin() as connection:
        connection.execute(text(f"UPDATE {schema}workflow_status SET status = 'PENDING' WHERE name = 'next_round'"))
    routing._move(queues, heavy, "gpu", "elsewhere")  # a worker took it
    assert (where(heavy), where(light)) == ("gpu", "gpu")
    queues.dispose()
