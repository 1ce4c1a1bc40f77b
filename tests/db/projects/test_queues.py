"""Which queue a job waits in: by its kind and the live workers, and moved as those come and go."""

from collections.abc import Callable, Iterator
from importlib.metadata import version

import pytest
from dbos import DBOSClient
from dbos._schemas.system_database import SystemSchema
from sqlalchemy import Engine, text

from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.requests import request_audit, request_round
from allpairs.annotate.kit.ui.job_status import KINDS
from allpairs.db.domain import Queue
from allpairs.db.projects.jobs import remove_worker, report_worker
from allpairs.db.projects.queues import queue_of
from allpairs.db.schema.engine import writing
from allpairs.learner.jobs.queue import routing
from tests.helpers.factories import make_project

Where = Callable[[str], str]


@pytest.fixture
def where(home: object) -> Iterator[Where]:
    """Yield a function that returns a job's queue."""
    with closing_client() as client:
        yield lambda job_id: queued(client, job_id)


def queued(client: DBOSClient, job_id: str) -> str:
    (job,) = client.list_workflows(workflow_ids=[job_id])
    return str(job.queue_name)


def start(engine: Engine, name: str, queue: Queue | None) -> None:
    with writing(engine) as session:
        report_worker(session, name, name, 1, "cpu", queue)


def test_every_kind_of_job_has_a_queue_that_somebody_serves() -> None:
    assert {kind for kind in KINDS if queue_of(kind, Queue) is Queue.CPU} == {
        "audit", "entities", "preview", "rate", "search"
    }  # fmt: skip
    for kind in KINDS:
        for served in ({Queue.GPU}, {Queue.CPU}):
            assert queue_of(kind, served) in served
        assert queue_of(kind, ()) == queue_of(kind, Queue)


def test_jobs_go_where_they_are_served_and_move_on_a_change(
    engine: Engine, where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(engine, "starting", None)
    heavy = request_round(engine, make_project(engine, ["a", "b"], name="A"))
    assert where(heavy) == "gpu"  # nobody serves any: it waits for the best one
    start(engine, "desk", Queue.CPU)
    light = request_audit(engine, make_project(engine, ["a", "b"], name="B"), 0)
    queues = routing.queue_engine()
    routing.route(engine, queues)
    assert (where(heavy), where(light)) == ("cpu", "cpu")
    start(engine, "rack", Queue.GPU)
    routing.route(engine, queues)
    assert (where(heavy), where(light)) == ("gpu", "cpu")
    with writing(engine) as session:
        remove_worker(session, "desk", 1)
    routing.route(engine, queues)
    assert (where(heavy), where(light)) == ("gpu", "gpu")
    queues.dispose()


def test_a_lost_workers_job_waits_again_and_counts_its_tries(engine: Engine, where: Where) -> None:
    start(engine, "rack", Queue.GPU)
    job = request_round(engine, make_project(engine, ["a", "b"], name="A"))
    queues = routing.queue_engine()
    schema = "dbos." if queues.dialect.name == "postgresql" else ""
    jobs = f"{schema}workflow_status"

    def took(worker: str) -> None:
        with queues.begin() as connection:
            by = {"worker": worker}
            connection.execute(
                text(f"UPDATE {jobs} SET status = 'PENDING', executor_id = :worker, recovery_attempts = 3"), by
            )

    def state() -> tuple[object, ...]:
        with queues.connect() as connection:
            return tuple(connection.execute(text(f"SELECT status, executor_id, recovery_attempts FROM {jobs}")).one())

    took("rack")
    routing.queue_again(engine, queues, {"rack"})
    assert state() == ("PENDING", "rack", 3)  # at work
    routing.route(engine, queues)
    assert where(job) == "gpu"
    took("gone")
    routing.queue_again(engine, queues, {"rack"})
    assert state() == ("ENQUEUED", "gone", 3)
    took("rack")
    table = routing.queue_table(queues)  # another worker saw it with the lost one, before this one took it
    still = (table.c.status == routing.AT_WORK, table.c.executor_id == "gone")
    routing.change_waiting_job(queues, table, job, still, status=routing.QUEUED)
    assert state() == ("PENDING", "rack", 3)
    queues.dispose()


def test_the_queue_has_the_columns_that_routing_writes() -> None:
    """Where this fails, dbos is another version: compare its table with learner/jobs/queue/routing.py."""
    assert version("dbos") == routing.DBOS_VERSION
    assert set(routing.WORKFLOW_COLUMNS) <= set(SystemSchema.workflow_status.c.keys())
