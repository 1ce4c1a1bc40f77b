"""Jobs that a worker left behind are taken over, and never from a worker or a job that has been heard of since."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, text

from allpairs.annotate.kit.jobs.open_jobs import closing_client
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.domain import Queue
from allpairs.db.projects.jobs import ALIVE, add_job, report_worker
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, Worker, now
from allpairs.learner.jobs.queue import recovery, routing
from tests.helpers.factories import make_project


@pytest.fixture
def queues(home: object) -> Iterator[Engine]:
    """Yield an engine on the queue's own tables."""
    with closing_client():
        found = routing.queue_engine()
        yield found
        found.dispose()


def change(engine: Engine, job_id: str, state: str) -> None:
    with writing(engine) as session:
        session.get_one(Job, job_id).state = state


def old_job(engine: Engine, kind: str, state: str) -> str:
    """Return the id of a job requested too long ago to be still on its way into the queue."""
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        job = add_job(session, project, kind)
        job.state, job.created_at = state, now() - 2 * recovery.LOST
        return job.id


@pytest.mark.parametrize("heard", [True, False])
def test_only_jobs_of_silent_workers_are_taken_over(
    engine: Engine, queues: Engine, monkeypatch: pytest.MonkeyPatch, heard: bool
) -> None:
    monkeypatch.setattr(recovery.DBOS, "list_workflows", lambda **_: [])
    request_round(engine, make_project(engine, ["a", "b"]))
    jobs = f"{'dbos.' if queues.dialect.name == 'postgresql' else ''}workflow_status"
    with queues.begin() as connection:
        connection.execute(text(f"UPDATE {jobs} SET status = 'PENDING', executor_id = 'rack'"))
    with writing(engine) as session:
        report_worker(session, "rack", "rack", 1, "cpu", Queue.GPU)
        session.flush()
        if not heard:
            session.get_one(Worker, "rack").seen_at = now() - ALIVE - timedelta(seconds=1)
    recovery.take_over(engine, queues, "desk")
    with queues.connect() as connection:
        assert connection.scalar(text(f"SELECT status FROM {jobs}")) == ("PENDING" if heard else "ENQUEUED")


Listing = Callable[..., list[SimpleNamespace]]


def listing(engine: Engine, job_id: str, state: str, found: list[SimpleNamespace]) -> Listing:
    """Return a stand-in for the queue's listing that first puts the job into this state."""

    def listed(**_: object) -> list[SimpleNamespace]:
        change(engine, job_id, state)
        return found

    return listed


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_a_job_that_ends_while_the_queue_is_asked_stays_ended(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    job_id = old_job(engine, "audit", "running")
    ended = [SimpleNamespace(workflow_id=job_id, status="SUCCESS")]
    monkeypatch.setattr(recovery.DBOS, "list_workflows", listing(engine, job_id, state, ended))
    recovery.mark_ended_jobs(engine)
    with reading(engine) as session:
        assert (session.get_one(Job, job_id).state, session.get_one(Job, job_id).error) == (state, None)


@pytest.mark.parametrize("state", ["running", "cancelled"])
def test_a_job_heard_of_while_the_queue_is_asked_has_not_failed(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    job_id = old_job(engine, "audit", "waiting")
    monkeypatch.setattr(recovery.DBOS, "list_workflows", listing(engine, job_id, state, []))
    recovery.find_lost_jobs(engine)
    with reading(engine) as session:
        assert (session.get_one(Job, job_id).state, session.get_one(Job, job_id).error) == (state, None)
