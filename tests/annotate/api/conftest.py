"""The project that the REST API is asked about."""

import pytest
from sqlalchemy import Engine

from allpairs.annotate.kit.jobs import open_jobs, requests
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.results import answering, make_published
from tests.helpers.projects.two_projects import NoQueue
from tests.helpers.raters import add_rater


@pytest.fixture
def project(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return a project with 6 tasks and 2 more and a published model; jobs are rows outside the queue."""
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    monkeypatch.setattr(open_jobs, "closing_client", NoQueue)
    project_id = make_project(engine, [f"text {i}" for i in range(6)], question="The same?", auto_train=False)
    make_round(engine, project_id, 6, reserve=2)
    make_published(engine, project_id)
    answering(monkeypatch)
    add_rater(engine, project_id)
    return project_id
