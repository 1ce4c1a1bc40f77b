"""A job's row while its workflow runs, and that a project has one at a time."""

import pytest
from dbos import error as dbos_error
from sqlalchemy import Engine, select

from allpairs.annotate.kit.jobs.open_jobs import cancel as cancel_job
from allpairs.annotate.kit.jobs.open_jobs import read_jobs
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.ui.job_status import progress_in_words
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.projects.jobs import add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job
from allpairs.learner.jobs.queue.job_state import job_state
from allpairs.learner.jobs.queue.progress import Reporter
from tests.helpers.factories import make_project
from tests.helpers.services.webhooks import add_webhook, notices


@pytest.fixture
def project(engine: Engine) -> int:
    return make_project(engine, ["a", "b"])


@pytest.fixture
def job(engine: Engine, project: int) -> str:
    with writing(engine) as session:
        return add_job(session, project, "next_round").id


def row_of(engine: Engine, job_id: str) -> Job:
    with reading(engine) as session:
        return session.get_one(Job, job_id)


def test_a_finished_job_is_done(engine: Engine, job: str) -> None:
    with job_state(job):
        assert row_of(engine, job).state == "running"
    assert (row_of(engine, job).state, row_of(engine, job).fraction) == ("done", 1)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("encoder 'x' cannot be loaded: no file"), "encoder 'x' cannot be loaded: no file"),
        (MemoryError(), "The machine ran out of memory"),
        (RuntimeError("CUDA out of memory.\nTried to allocate"), "The machine ran out of memory"),
        (KeyError("w"), "KeyError: 'w'"),
        (RuntimeError("one\ntwo"), "RuntimeError: one"),
        (RuntimeError(), "RuntimeError: no message"),
    ],
)
def test_a_failed_job_has_one_sentence_and_the_traceback(
    engine: Engine, project: int, job: str, error: Exception, sentence: str
) -> None:
    add_webhook(engine, project)
    with pytest.raises(type(error)), job_state(job):
        raise error
    row = row_of(engine, job)
    assert row.state == "failed"
    assert row.error is not None and row.error.startswith(sentence) and "\n" not in row.error
    assert row.traceback is not None and "test_job_state.py" in row.traceback
    assert notices(engine) == [("training.failed", {"job": job, "error": row.error})]


def test_a_cancelled_job_is_cancelled_and_not_failed(engine: Engine, job: str) -> None:
    with pytest.raises(Cancelled), job_state(job):
        cancel_job(engine, job)
        raise Cancelled(job)
    assert (row_of(engine, job).state, row_of(engine, job).error) == ("cancelled", None)


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_cancelling_a_job_that_has_ended_changes_nothing(engine: Engine, job: str, state: str) -> None:
    with writing(engine) as session:
        session.get_one(Job, job).state = state
    cancel_job(engine, job)
    assert (row_of(engine, job).state, row_of(engine, job).cancel) == (state, False)


def test_a_job_that_another_worker_took_over_is_left_to_it(engine: Engine, job: str) -> None:
    with pytest.raises(dbos_error.DBOSWorkflowConflictIDError), job_state(job):
        raise dbos_error.DBOSWorkflowConflictIDError(job)
    assert row_of(engine, job).state == "running"


def test_a_job_whose_project_is_gone_ends_quietly(engine: Engine, job: str) -> None:
    with job_state(job), writing(engine) as session:
        session.delete(session.get_one(Job, job))
    with reading(engine) as session:
        assert session.scalars(select(Job)).all() == []


def test_asking_twice_is_one_job(engine: Engine, project: int) -> None:
    first = request_round(engine, project)
    assert request_round(engine, project) == first
    assert [(job.id, job.state) for job in read_jobs(engine, project)] == [(first, "waiting")]


def test_a_cancelled_job_makes_room_for_another(engine: Engine, project: int) -> None:
    first = request_round(engine, project)
    cancel_job(engine, first)
    cancel_job(engine, first)
    second = request_round(engine, project)
    assert second != first
    assert {job.id: job.state for job in read_jobs(engine, project)} == {first: "cancelled", second: "waiting"}


def test_an_overlong_step_never_shows_more_than_all(engine: Engine, job: str) -> None:
    Reporter(engine, job, 0.9, 0.1)("encode", 1.2)
    row = row_of(engine, job)
    assert (row.fraction, row.seconds_left) == (1.0, 0.0)
    row.fraction = 1.01  # of a worker before
    assert "100%" in progress_in_words(row)
