"""The page Pipelines as a person uses it. The worker's results are written directly."""

from collections.abc import Callable, Iterator
from itertools import product
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select

from allpairs.annotate.features.label.queue import record
from allpairs.annotate.features.papers.mined_sample import put_up
from allpairs.annotate.features.projects.projects import delete_project
from allpairs.db.domain import AnswerKind
from allpairs.db.projects.jobs import PIPELINE
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Item, Task
from tests.helpers.browser import PAUSE, App, Desk, Picture, settle
from tests.helpers.figures.measured import add_job
from tests.helpers.projects.pipelines import finished_run, write_began

NAME = "Example (made-up figures)"
RUN = "run-done"


@pytest.fixture
def desk(app: App, make_desk: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Yield a project with a finished run that mined 300 pairs."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    questions = [f"How do I replace part {i} of the printer?" for i in range(20)]
    answers = [f"Open the cover and take out part {i}." for i in range(20)]
    desk = make_desk(5, texts=questions, right=answers, name=NAME)
    with reading(desk.engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == desk.project_id).order_by(Item.id)).all()
    pairs = sorted(product(items[:20], items[20:]), key=lambda pair: abs(pair[1] - pair[0] - 20))
    finished_run(desk.engine, desk.project_id, RUN, pairs[:300])
    yield desk
    delete_project(desk.engine, desk.project_id)


def address(app: App) -> str:
    return f"{app.url}/pipelines?project={quote(NAME)}"


def test_how_runs_look(page: Page, app: App, desk: Desk, picture: Picture) -> None:
    add_job(desk.engine, desk.project_id, "run-at-work", kind=PIPELINE, state="running", stage="train: step 140 of 200",
            fraction=0.38, seconds_left=410.0)  # fmt: skip
    write_began("run-at-work", "24 positive labels are the seed. 20 and 20 texts.")
    put_up(desk.engine, desk.project_id, RUN, 0, 60, np.random.default_rng(0))
    with reading(desk.engine) as session:
        tasks = session.scalars(select(Task).where(Task.strategy == "mined", Task.project_id == desk.project_id)).all()
    for task in tasks[:48]:
        right = task.right_id - task.left_id == 20 or task.id % 3 == 0
        said = AnswerKind.POSITIVE if right else AnswerKind.NEGATIVE
        record(desk.engine, desk.project_id, "ann", [{"key": f"m{task.id}", "task_id": task.id, "answer": said}])
    page.goto(address(app))
    expect(page.get_by_text("Of all 300 mined pairs")).to_be_visible(timeout=30_000)
    expect(page.locator("[data-testid=stVegaLiteChart] :is(canvas, svg.marks)")).to_have_count(1, timeout=30_000)
    picture(page, "pipelines", 1900, 2500)


def test_a_sample_is_queued_and_labelled(page: Page, app: App, desk: Desk) -> None:
    page.goto(address(app))
    page.get_by_role("button", name="Draw a sample").click(timeout=30_000)
    page.get_by_role("spinbutton", name="Pairs to draw").fill("6")
    page.get_by_role("spinbutton", name="Pairs to draw").press("Enter")
    page.get_by_role("button", name="Draw sample").click()
    expect(page.get_by_text("0 of 6 sampled")).to_be_visible(timeout=15_000)
    page.clock.install()
    page.goto(desk.url)
    page.get_by_role("radio", name="Mined sample (6 left)").click(timeout=30_000)
    expect(page.locator(".counts")).to_contain_text("Mined sample: 0 of 6")
    page.clock.fast_forward(PAUSE)
    for _ in range(6):
        page.keyboard.press("1")
    complete = "The mined sample is complete. The figures are on the page “Pipelines”."
    expect(page.locator(".empty")).to_contain_text(complete)
    settle(page, 6)
    assert desk.labels.count(AnswerKind.POSITIVE) == 6
    page.get_by_role("link", name="“Pipelines”").click()
    expect(page.get_by_text("300 mined pairs, 100%")).to_be_visible(timeout=15_000)


def test_the_best_pairs_become_labels_and_a_run_is_requested(page: Page, app: App, desk: Desk) -> None:
    page.goto(address(app))
    card = page.locator(".st-key-pipeline_few-shot-mining")
    expect(card.get_by_text("at least 2 positive")).to_be_visible(timeout=30_000)
    page.get_by_role("button", name="Use as training pairs").click()
    page.get_by_role("button", name="Create 100 labels").click(timeout=15_000)
    expect(page.get_by_role("button", name="Undo all 100 labels")).to_be_visible(timeout=15_000)
    assert [answer.annotator for answer in desk.answers] == ["few-shot-mining"] * 100
    page.keyboard.press("Escape")
    card.get_by_text("New run").click(timeout=15_000)
    card.locator("summary", has_text="Bi-encoder").click()
    expect(card.get_by_role("textbox", name="Backbone", exact=True)).to_be_visible()
    card.get_by_role("button", name="Start").click()
    expect(page.get_by_test_id("stMain").get_by_text("waiting for a worker")).to_be_visible(timeout=15_000)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_test_id("stMain").get_by_text("waiting for a worker")).to_have_count(0, timeout=15_000)
    page.goto(f"{app.url}/answers?project={quote(NAME)}&annotator=few-shot-mining")
    expect(page.get_by_text("100 answers")).to_be_visible(timeout=15_000)
