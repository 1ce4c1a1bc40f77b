"""The page Explore as a person uses it, on the demo with two trained rounds, with the pictures of the documents."""

import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, func, select

from annotate.labelling.queue import record
from db.projects.jobs import OPEN
from db.schema.engine import make_engine, reading
from db.schema.tables import Answer, Gold, Job, Matcher, Project, Round, Task
from tests.helpers.browser import App, open_card
from tests.helpers.paths import ROOT
from tests.helpers.services.ports import free_port

TRAINING = 300  # seconds: the worker loads torch, measures the encoder, trains, encodes
WAIT = 60_000  # milliseconds for a job of the page
WIDTHS = {"desktop": 1280, "phone": 390}
# View: what must be on the page before it is a picture, and whether all four pictures of it are kept.
VIEWS = {
    "Search": ("Nearest to", False),
    "Matches": ("Estimated precision", True),
    "Groups": ("Largest first", False),
    "Mistakes": ("surest are matches", False),
    "Compare": ("largest change first", True),
}


@pytest.fixture(scope="module")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, Engine]]:
    """Yield the demo with its own worker, after two batches answered with the truth."""
    app = App(tmp_path_factory.mktemp("explored"), free_port(), demo=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLPAIRS_HOME", str(app.home))
        patch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
        try:
            app.start()
            engine = make_engine()
            for number in (1, 2):
                _wait_for(engine, number - 1, number)
                _answer(engine, number)
            _wait_for(engine, 2, 3)
            yield app, engine
            engine.dispose()
        finally:
            app.stop()


def _wait_for(engine: Engine, matcher: int, batch: int) -> None:
    """Wait until this matcher is measured, this batch made, and no job running."""
    for _ in range(TRAINING):
        with reading(engine) as session:
            made = session.scalar(select(func.max(Matcher.number))), session.scalar(select(func.max(Round.number)))
            at_work = session.scalar(select(func.count()).select_from(Job).where(Job.state.in_(OPEN)))
        if made == (matcher, batch) and not at_work:
            return
        time.sleep(1)
    raise RuntimeError(f"the matcher and the batch are {made}, not {(matcher, batch)}")


def _answer(engine: Engine, number: int) -> None:
    with reading(engine) as session:
        project_id = session.scalars(select(Project.id)).one()
        gold = set(session.execute(select(Gold.left_id, Gold.right_id).where(Gold.positive)).tuples())
        batch = session.scalars(select(Round).where(Round.number == number)).one()
        tasks = session.scalars(select(Task).where(Task.round_id == batch.id, Task.position < batch.size)).all()
    events = [
        {"key": uuid4().hex, "task_id": task.id,
         "answer": "positive" if (task.left_id, task.right_id) in gold else "negative"}
        for task in tasks
    ]  # fmt: skip
    assert len(record(engine, project_id, "me", events).stored) == batch.size


def open_explore(page: Page, app: App) -> None:
    page.goto(f"{app.url}/explore")
    expect(page.get_by_role("heading", name="Explore")).to_be_visible(timeout=WAIT)


def show(page: Page, view: str) -> None:
    """Open the view on the page, with what it needs prepared or found."""
    page.get_by_role("radio", name=view, exact=True).click()
    if view == "Search":
        page.get_by_label("Text", exact=True).fill("the printer jams")
        page.get_by_role("button", name="Search", exact=True).click()
        expect(page.get_by_text("Nearest to")).to_be_visible(timeout=WAIT)
    ready, offer = page.get_by_text(VIEWS[view][0]).first, page.get_by_role("button", name="Prepare round")
    expect(ready.or_(offer).first).to_be_visible(timeout=WAIT)
    while offer.count():
        offer.click()
        expect(offer).to_have_count(0, timeout=WAIT)
        expect(ready.or_(offer).first).to_be_visible(timeout=WAIT)


def settle(page: Page) -> None:
    """Wait until typed input has reached the server, and the page is drawn."""
    page.wait_for_timeout(2000)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)


def metric(page: Page, label: str) -> float:
    """Return the number in a figure."""
    found = page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")
    return float((found.text_content() or "").strip("%≤+ ").replace(",", ""))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", ["desktop", "phone"])
def test_screenshots(page: Page, explored: tuple[App, Engine], device: str, scheme: str) -> None:
    app, _ = explored
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": WIDTHS[device], "height": 1400})
    open_explore(page, app)
    for view, (_, kept) in VIEWS.items():
        show(page, view)
        page.wait_for_timeout(1500)  # texts and plots are drawn
        main = page.locator("[data-testid=stMain]")
        assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth"), f"{view} is wider than the screen"
        if kept or (device, scheme) == ("desktop", "light"):
            page.screenshot(path=ROOT / "docs" / "screenshots" / f"explore-{view.lower()}-{device}-{scheme}.png")


def test_a_person_explores_the_demo(page: Page, explored: tuple[App, Engine], tmp_path: Path) -> None:
    app, engine = explored
    open_explore(page, app)
    show(page, "Search")
    expect(page.get_by_text("There is paper stuck in the printer")).to_be_visible()

    show(page, "Matches")
    before = {label: metric(page, label) for label in ("Matches", "Estimated precision", "Estimated recall")}
    page.get_by_role("slider").first.focus()
    for _ in range(40):
        page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("stMetric").first).not_to_contain_text(f"{before['Matches']:,.0f}", timeout=WAIT)
    assert metric(page, "Matches") > before["Matches"]
    assert metric(page, "Estimated recall") > before["Estimated recall"]
    settle(page)  # a file that was asked for before would be gone
    with page.expect_download() as downloading:
        page.get_by_role("button", name="as CSV").click()
    downloading.value.save_as(tmp_path / "matches.csv")
    lines = (tmp_path / "matches.csv").read_text().splitlines()
    assert lines[0] == "id1,id2,text1,text2,score,p,label,gold" and len(lines) == metric(page, "Matches") + 1

    show(page, "Groups")
    with reading(engine) as session:
        answers = session.scalar(select(func.count()).select_from(Answer)) or 0
    asked = page.get_by_text("with yes?")
    for button in page.get_by_role("button", name="All pairs of this group match").all():
        button.click()
        expect(asked.or_(page.get_by_text("There is nothing to answer")).first).to_be_visible(timeout=WAIT)
        if asked.count():
            break
    page.get_by_role("button", name="Yes,").click()
    expect(page.get_by_text("Your last group")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("Your last group")).to_have_count(0, timeout=WAIT)
    with reading(engine) as session:
        stored = session.scalars(select(Answer).order_by(Answer.id).offset(answers)).all()
    assert stored and len(stored) % 2 == 0
    assert {(one.left_id, one.right_id) for one in stored if one.answer == "positive"} == {
        (one.left_id, one.right_id) for one in stored if one.answer == "retract"
    }


def test_a_chosen_pair_is_the_next_to_label(page: Page, explored: tuple[App, Engine]) -> None:
    app, _ = explored
    open_card(page, app.url)  # a batch is held already, and the pair goes before it
    open_explore(page, app)
    show(page, "Mistakes")
    page.get_by_role("radio", name="Missed positives").click()
    expect(page.get_by_text("the model finds least likely")).to_be_visible(timeout=WAIT)
    settle(page)  # no row of the other list is left
    rows = page.locator("[class*=st-key-pair_]").filter(has_not_text="evaluation pair").filter(has_not_text="label:")
    row = rows.filter(has_not_text="in the batch").first
    expect(row.get_by_test_id("stHtml")).to_have_count(2, timeout=WAIT)
    texts = [text.strip() for text in row.get_by_test_id("stHtml").all_text_contents()]
    row.get_by_role("button", name="Label it").click()
    expect(page.get_by_text("next pair of batch")).to_be_visible(timeout=WAIT)
    page.get_by_role("link", name="Label", exact=True).click()
    expect(page.locator("[data-side=left]")).to_have_text(texts[0], timeout=WAIT)
    expect(page.locator("[data-side=right]")).to_have_text(texts[1])
