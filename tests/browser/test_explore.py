"""The main job as a new user does it (the demo labelled, trained, measured), and then the page Explore on it."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.label.queue import record
from allpairs.db.projects.jobs import OPEN
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Answer, Gold, Job, Project, Round, StoredModel, Task
from tests.helpers.browser import DESKTOP, PAUSE, App, Picture, drawn, open_card, press, settle
from tests.helpers.machine import free_port
from tests.helpers.services.workers import wait_for

TRAINING = 300  # seconds: the worker loads torch, measures the encoder, trains, encodes
WAIT = 120_000  # milliseconds for a job of the page
# View: what is on the page once it shows it.
VIEWS = {
    "Search": "Nearest to",
    "Matches": "Estimated precision",
    "Groups": "Largest first",
    "Mistakes": "surest are matches",
    "Compare": "largest change first",
}
PICTURED = ("Matches", "Compare")  # in the documents


@pytest.fixture(scope="module")
def explored(
    tmp_path_factory: pytest.TempPathFactory, chromium: Browser, pytestconfig: pytest.Config
) -> Iterator[tuple[App, Engine]]:
    """Yield the demo with its own worker, after a batch answered with the truth by keys; for pictures after two."""
    app = App(tmp_path_factory.mktemp("explored"), free_port(), demo=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLPAIRS_HOME", str(app.home))
        patch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
        try:
            app.start()
            engine = make_engine()
            with chromium.new_context(viewport=DESKTOP) as context:  # type: ignore[arg-type]
                label_and_train(context.new_page(), app, engine)
            _wait_for(engine, 1, 2)
            if pytestconfig.getoption("--screenshots"):
                _answer(engine, 2)
                _wait_for(engine, 2, 3)
            yield app, engine
            engine.dispose()
        finally:
            app.stop()


def label_and_train(page: Page, app: App, engine: Engine) -> None:
    """Answer the first batch by keys; wait for the model, its figures and the next batch."""
    page.clock.install()
    open_card(page, f"{app.url}/label")
    answers = gold_answers(engine, 1)
    for _, positive in answers:
        press(page, "1" if positive else "2")
    settle(page, len(answers))
    expect(page.locator(".pair")).to_be_visible()  # the reserve: nobody waits for the training
    expect(page.locator(".counts")).to_contain_text("Batch 2: 0 of 60 answered", timeout=1_000 * TRAINING)
    page.clock.fast_forward(PAUSE)
    page.keyboard.press("1")
    expect(page.locator(".last")).to_contain_text("Last answer")
    page.get_by_role("link", name="Monitor").click()
    expect(page.get_by_text("after 40 labels")).to_be_visible(timeout=30_000)
    expect(page.get_by_text("Exact over all").first).to_be_visible()


def gold_answers(engine: Engine, number: int) -> list[tuple[int, bool]]:
    """Return the tasks of the batch in display order, and whether each is a gold positive."""
    with reading(engine) as session:
        gold = set(session.execute(select(Gold.left_id, Gold.right_id).where(Gold.positive)).tuples())
        batch = session.scalars(select(Round).where(Round.number == number)).one()
        mine = select(Task).where(Task.round_id == batch.id, Task.position < batch.size)
        tasks = session.scalars(mine.order_by(Task.position)).all()
    return [(task.id, (task.left_id, task.right_id) in gold) for task in tasks]


def _wait_for(engine: Engine, matcher: int, batch: int) -> None:
    """Wait until this matcher is measured, this batch made, and no job running."""

    def reached() -> bool:
        with reading(engine) as session:
            made = session.scalar(select(func.max(StoredModel.number))), session.scalar(select(func.max(Round.number)))
            at_work = session.scalar(select(func.count()).select_from(Job).where(Job.state.in_(OPEN)))
        return made == (matcher, batch) and not at_work

    wait_for(reached, TRAINING)


def _answer(engine: Engine, number: int) -> None:
    with reading(engine) as session:
        project_id = session.scalars(select(Project.id)).one()
    events = [
        {"key": uuid4().hex, "task_id": task_id, "answer": "positive" if positive else "negative"}
        for task_id, positive in gold_answers(engine, number)
    ]
    assert len(record(engine, project_id, "me", events).stored) == len(events)


def open_explore(page: Page, app: App) -> None:
    page.goto(f"{app.url}/explore")
    expect(page.get_by_role("heading", name="Explore")).to_be_visible(timeout=WAIT)


def show(page: Page, view: str) -> None:
    """Open the view on the page, and search for what the search shows."""
    page.get_by_role("radio", name=view, exact=True).click()
    if view == "Search":
        page.get_by_label("Text", exact=True).fill("the printer jams")
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.get_by_text("Nearest to")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text(VIEWS[view]).first).to_be_visible(timeout=WAIT)  # what it needs is prepared by itself


def metric(page: Page, label: str) -> float:
    """Return the number in a figure."""
    found = page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")
    return float((found.text_content() or "").strip("%≤+ ").replace(",", ""))


def test_the_demo_is_labelled_by_keys_and_trained(explored: tuple[App, Engine]) -> None:
    _, engine = explored
    with reading(engine) as session:
        said = {task: answer == "positive" for task, answer in session.execute(select(Answer.task_id, Answer.answer))}
        labels = session.scalars(select(StoredModel.labels).order_by(StoredModel.number)).all()
    first = gold_answers(engine, 1)
    assert len(first) == 40 and all(said[task] == positive for task, positive in first)
    assert labels == [0, 40]


def test_how_views_look(
    page: Page, explored: tuple[App, Engine], picture: Picture, pytestconfig: pytest.Config
) -> None:
    app, _ = explored
    open_explore(page, app)
    for view in VIEWS:
        if view == "Compare" and not pytestconfig.getoption("--screenshots"):
            continue  # it takes a second round: `make screenshots` looks at it
        show(page, view)
        picture(page, f"explore-{view.lower()}" if view in PICTURED else "", 1400)


def test_a_person_explores_the_demo(page: Page, explored: tuple[App, Engine], tmp_path: Path) -> None:
    app, _ = explored
    open_explore(page, app)
    show(page, "Search")
    expect(page.get_by_text("There is paper stuck in the printer")).to_be_visible()

    show(page, "Matches")
    before = {label: metric(page, label) for label in ("Matches", "Estimated precision", "Estimated recall")}
    recall = page.get_by_test_id("stMetric").filter(has_text="Estimated recall")
    recall_before = recall.inner_text()
    page.get_by_role("slider").first.focus()
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    expect(recall).not_to_have_text(recall_before, timeout=WAIT)
    assert metric(page, "Matches") >= before["Matches"]  # the demo's known pairs are all there from the start
    assert metric(page, "Estimated recall") > before["Estimated recall"]
    drawn(page)  # a file that was asked for before would be gone
    with page.expect_download() as downloading:
        page.get_by_role("button", name="as CSV").click()
    downloading.value.save_as(tmp_path / "matches.csv")
    lines = (tmp_path / "matches.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "id1,id2,text1,text2,score,p,reason,label,gold" and len(lines) == metric(page, "Matches") + 1


def test_a_chosen_pair_is_the_next_to_label(page: Page, explored: tuple[App, Engine]) -> None:
    app, _ = explored
    open_card(page, f"{app.url}/label")  # a batch is held already, and the pair goes before it
    open_explore(page, app)
    show(page, "Mistakes")
    page.get_by_role("radio", name="Missed positives").click()
    expect(page.get_by_text("finds least likely")).to_be_visible(timeout=WAIT)
    drawn(page)  # no row of the other list is left
    rows = page.locator("[class*=st-key-pair_]").filter(has_not_text="evaluation pair").filter(has_not_text="label:")
    row = rows.filter(has_not_text="in the batch").first
    expect(row.get_by_test_id("stHtml")).to_have_count(2, timeout=WAIT)
    texts = [text.strip() for text in row.get_by_test_id("stHtml").all_text_contents()]
    row.get_by_role("button", name="Label it").click()
    expect(page.get_by_text("next pair of batch")).to_be_visible(timeout=WAIT)
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.locator("[data-side=left]")).to_have_text(texts[0], timeout=WAIT)
    expect(page.locator("[data-side=right]")).to_have_text(texts[1])
