"""Opinions and rationales as a person asks for them. The worker's results are written directly."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from allpairs.annotate.projects.projects import delete_project
from allpairs.db.projects.jobs import OPINIONS, last_job
from allpairs.db.results.opinions import Opinion, Opinions, write_opinions
from allpairs.db.results.pipelines import pipeline_folder
from allpairs.db.schema.engine import writing
from allpairs.learner.catalog.quip import HEADS
from tests.helpers.browser import App, Desk
from tests.helpers.projects.opinions import quip_run

NAME, RUN = "Reviews", "run-opines"


@pytest.fixture
def desk(app: App, make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Yield a project with a run whose encoder answers questions."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    desk = make_desk(0, texts=[f"The film of the year 20{i:02} is fine." for i in range(20)], name=NAME)
    quip_run(desk.engine, desk.project_id, RUN)
    (pipeline_folder(RUN) / "student").mkdir()
    (pipeline_folder(RUN) / "student" / HEADS).touch()
    yield desk
    delete_project(desk.engine, desk.project_id)


def test_texts_are_typed_and_their_reasons_read(page: Page, app: App, desk: Desk) -> None:
    page.goto(f"{app.url}/pipelines?project={quote(NAME)}")
    page.get_by_text("Classify opinions").click(timeout=30_000)
    ask = page.get_by_role("button", name="Classify")
    ask.click()
    expect(page.get_by_text("there is no text to read")).to_be_visible(timeout=15_000)
    page.get_by_role("textbox", name="Texts, one per line").fill("A <b>joy</b> & more\n2 < 3, so dull")
    page.get_by_role("textbox", name="Question for a positive opinion").fill("What is lovely?")
    ask.click()
    expect(page.get_by_test_id("stMain").get_by_text("Reading: waiting for a worker")).to_be_visible(timeout=15_000)
    found = [Opinion("A <b>joy</b> & more", 0.5, 5, 8), Opinion("2 < 3, so dull", -0.25, 7, 14)]
    with writing(desk.engine) as session:
        job = last_job(session, desk.project_id, [OPINIONS])
        assert job is not None
        write_opinions(RUN, job.id, Opinions("What is lovely?", "Why is it bad?", found))
        job.state = "done"
    rows = page.locator(".opinions li")
    expect(rows).to_have_count(2, timeout=15_000)
    assert rows.locator(".text").all_inner_texts() == [one.text for one in found]
    assert rows.locator("mark").all_inner_texts() == ["joy", "so dull"]
    assert "Positive (0.50): What is lovely?" in rows.first.inner_text()
    line = page.locator("mark").first.evaluate("one => getComputedStyle(one).textDecorationLine")
    assert line == "underline"
