"""What a job says of its progress."""

import pytest
from sqlalchemy import Engine

from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job
from allpairs.learner.jobs.queue.progress import Reporter
from tests.helpers.factories import make_project


@pytest.mark.parametrize(("done", "left"), [(0.001, None), (0.25, 30_000)])
def test_the_time_left_is_told_once_the_pace_is_known(engine: Engine, done: float, left: float | None) -> None:
    project = make_project(engine, ["a", "b"])
    with writing(engine) as session:
        session.add(Job(id="j", project_id=project, kind="next_round", state="running"))
    reporter = Reporter(engine, "j", 0.0, 1.0)
    reporter.started -= 10_000  # seconds for what is done
    reporter("encode", done)
    with reading(engine) as session:
        told = session.get_one(Job, "j").seconds_left
    assert told == (None if left is None else pytest.approx(left, rel=0.01))
