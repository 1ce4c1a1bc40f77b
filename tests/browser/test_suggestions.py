"""Questions suggested by a run's generator, as a person asks for them. The worker's results are written directly."""

import json
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from allpairs.annotate.features.projects.projects import delete_project
from allpairs.db.files.json_file import write_json
from allpairs.db.projects.jobs import SUGGEST, last_job
from allpairs.db.results.job_results import Suggestion, SuggestionRequest
from allpairs.db.results.pipelines import ARTIFACTS, results_folder
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Item
from tests.helpers.browser import App, Desk
from tests.helpers.projects.pipelines import finished_run

NAME, RUN = "Printers", "run-asks"


@pytest.fixture
def desk(app: App, make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Yield a project with a run that made a generator."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    questions = [f"How do I replace part {i} of the printer?" for i in range(20)]
    answers = [f"Open the cover of the printer, wait until it is cool, and take out part {i}." for i in range(20)]
    desk = make_desk(5, texts=questions, right=answers, name=NAME)
    finished_run(desk.engine, desk.project_id, RUN)
    made = [{"kind": "generator", "title": "Question generator", "path": "results/biencoder",
             "about": {"from": "back-training, iteration 1"}}]  # fmt: skip
    (results_folder(RUN) / ARTIFACTS).write_text(json.dumps(made))
    yield desk
    delete_project(desk.engine, desk.project_id)


def test_a_passage_is_chosen_and_its_questions_are_read(page: Page, app: App, desk: Desk) -> None:
    page.goto(f"{app.url}/pipelines?project={quote(NAME)}")
    page.get_by_text("Suggest questions").click(timeout=30_000)
    words = page.get_by_role("textbox", name="Words in the passage")
    words.fill("part 17")
    words.press("Enter")
    made = page.locator(f".st-key-made_{RUN}_0")
    expect(made.get_by_text("take out part 17.").first).to_be_visible(timeout=15_000)
    suggest = page.get_by_role("button", name="Suggest", exact=True)
    expect(suggest).to_have_count(1, timeout=15_000)  # that of the passage before goes when the page is drawn whole
    suggest.click()
    expect(page.get_by_test_id("stMain").get_by_text("Asking: waiting")).to_be_visible(timeout=15_000)
    with writing(desk.engine) as session:
        passage = select(Item).where(Item.project_id == desk.project_id, Item.text.contains("out part 17."))
        item = session.scalars(passage).one()
        found = [Suggestion("How do I take out part 17?", 1.1), Suggestion("When is the printer cool?", 1.9)]
        write_json(SuggestionRequest(RUN, 0, item.id).path, found)
        job = last_job(session, desk.project_id, [SUGGEST])
        assert job is not None
        job.state = "done"
    expect(page.get_by_text("When is the printer cool?")).to_be_visible(timeout=15_000)
    assert made.get_by_role("listitem").all_inner_texts() == [one.question for one in found]
