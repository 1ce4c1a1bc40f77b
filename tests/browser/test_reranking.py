"""A pipeline's re-ranker as a person sees it: its figures, the order of matches."""

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.db.projects.jobs import MATCHES, PIPELINE
from allpairs.db.results.pipelines import pipeline_folder, results_folder
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Job
from tests.helpers.browser import App, drawn
from tests.helpers.figures.measured import add_job, make_measured_project

NAME = "Example (re-ranked)"
ABOUT = {
    "backbone": "all-MiniLM-L6-v2", "learned": "multi view: Rank + P2Q, rate 0.15", "seed": 1,
    "RR@10 on the test, best seed": 0.4934, "gain of AP over all pairs on the bi-encoder": "+0.021 (-0.004 to +0.030)",
}  # fmt: skip
MADE = {"kind": "reranker", "title": "Re-ranker", "path": "model", "about": ABOUT}


@pytest.fixture
def project(app: App, database: Engine, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield a project with two rounds, and a run that made a re-ranker."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    project_id = make_measured_project(database, NAME)
    add_job(database, project_id, "run-reranked", kind=PIPELINE, state="done")
    (pipeline_folder("run-reranked") / "model").mkdir(parents=True)
    (pipeline_folder("run-reranked") / "model" / "reranker.json").write_text("{}")
    results_folder("run-reranked").mkdir()
    (results_folder("run-reranked") / "artifacts.json").write_text(json.dumps([MADE]))
    yield project_id
    delete_project(database, project_id)


def opened(page: Page, app: App, name: str) -> None:
    page.goto(f"{app.url}/{name}?project={quote(NAME)}")


def test_matches_are_asked_for_in_a_rerankers_order(page: Page, app: App, database: Engine, project: int) -> None:
    opened(page, app, "pipelines")
    expect(page.get_by_text("multi view: Rank + P2Q, rate 0.15")).to_be_visible(timeout=30_000)
    expect(page.get_by_role("heading", name="Multi-view re-ranking")).to_be_visible()
    opened(page, app, "data")
    order = page.get_by_role("combobox", name="Order by")
    expect(order).to_be_visible(timeout=30_000)
    drawn(page)
    order.click()
    order.press_sequentially("Re-ranker")
    order.press("ArrowDown")
    order.press("Enter")
    expect(order).to_have_value(re.compile("^Re-ranker, "))
    drawn(page)
    page.get_by_role("button", name="Find matches").click()
    expect(page.get_by_text("Matches:").first).to_be_visible(timeout=30_000)
    with reading(database) as session:
        assert session.scalars(select(Job.kind).where(Job.project_id == project, Job.kind == MATCHES)).all() == [
            MATCHES
        ]
