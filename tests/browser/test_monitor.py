"""Monitor, jobs, settings and experiments in a real browser."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from allpairs.db.schema.tables import now
from tests.helpers.browser import App, Picture, drawn
from tests.helpers.every_page import finished_experiment
from tests.helpers.factories import drop_project
from tests.helpers.figures.measured import add_job, make_audited_project, make_measured_project, write_model_folder

NAME = "Example (made-up figures)"  # the figures are drawn at random: the pictures must not pass for a result
AUDITED = "Example without gold (made-up figures)"


@dataclass(frozen=True)
class Shown:
    """A page, what must be on it (a text and a number of plots), its height, and its picture in the documents."""

    page: str  # with the tab in its address, if it has tabs
    project: str
    text: str
    plots: int
    height: int
    picture: str = ""


SHOWN = {
    "monitor": Shown("monitor", NAME, "Round 4, after 325 labels", 1, 800, "monitor"),
    "monitor-audited": Shown("monitor", AUDITED, "Round 4, after 325 labels", 1, 800, "monitor-audit"),
    "monitor-curves": Shown("monitor?tab=Curves", AUDITED, "Learning curves", 8, 800),
    "monitor-people": Shown("monitor?tab=People", AUDITED, "Labels by day", 5, 800),
    "monitor-audit": Shown("monitor?tab=Audit", AUDITED, "Strata of the audit", 1, 800),
    "monitor-model": Shown("monitor?tab=Model", NAME, "Base encoder", 0, 800),
    "jobs": Shown("jobs", NAME, "training, 43%, about 2 min left", 0, 1000),
    "settings": Shown("settings", NAME, "All saved.", 0, 2600),
    "experiments": Shown("experiments", NAME, "Table 3: Strategies", 4, 2600),
}
OpenPage = Callable[[str], None]
# Every plot is on the paper, of 680 pixels: plots are drawn anew a moment after the page has its width.
FIT = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart] svg.marks")].every((plot) => {
  const box = plot.getBoundingClientRect()
  return box.width > 0 && box.left >= 0 && box.right <= 680
})"""


@pytest.fixture(scope="module")
def project(database: Engine) -> Iterator[int]:
    project_id = make_measured_project(database, NAME)
    for age, state in ((300, "done"), (190, "failed"), (3, "running")):
        add_job(database, project_id, f"next_round-{project_id}-{state}", state=state, stage="train", fraction=0.43,
                seconds_left=95.0, created_at=now() - timedelta(minutes=age),
                error="The disk is full: 120 MB are needed, 4 MB are free. Make room and try again.",
                traceback="Traceback (most recent call last): …")  # fmt: skip
    yield project_id
    drop_project(database, project_id)


@pytest.fixture(scope="module")
def audited(database: Engine) -> Iterator[int]:
    project_id = make_audited_project(database, AUDITED)
    yield project_id
    drop_project(database, project_id)


@pytest.fixture(scope="module")
def experiment(app: App) -> Iterator[None]:
    folder = app.home / "artifacts" / "experiments" / "example"
    finished_experiment(folder, name=NAME)
    yield
    shutil.rmtree(folder)


@pytest.fixture
def open_page(page: Page, app: App, project: int, audited: int, experiment: None) -> OpenPage:
    def open_page(name: str) -> None:
        shown = SHOWN[name]
        project = f"{'&' if '?' in shown.page else '?'}project={quote(shown.project)}"
        page.goto(f"{app.url}/{shown.page}{project}")
        expect(page.get_by_text(shown.text).first).to_be_visible(timeout=30_000)
        expect(page.locator("[data-testid=stVegaLiteChart] :is(canvas, svg.marks)")).to_have_count(
            shown.plots, timeout=30_000
        )

    return open_page


def test_how_pages_look(page: Page, open_page: OpenPage, picture: Picture) -> None:
    for name, shown in SHOWN.items():
        open_page(name)
        require_names_of_plots(page, name)
        picture(page, shown.picture, shown.height)


NAMES = {  # of plots, as screen readers say them
    "monitor": ("Average precision over all pairs",),
    "monitor-curves": ("Precision against recall", "Score histogram", "Calibration of", "Recall at the threshold over",
                       "Forecast of average precision"),
    "monitor-people": ("Labels by day", "Labels by annotator", "Median seconds per label", "Positives found"),
    "monitor-audit": ("Estimated share of positives",),
}  # fmt: skip


def require_names_of_plots(page: Page, name: str) -> None:
    """Fail unless every plot can be heard."""
    for start in NAMES.get(name, ()):
        assert page.locator(f"[aria-label^='{start}']").count() >= 1, start


@pytest.mark.parametrize("name", ["monitor", "monitor-audited"])
def test_the_summary_fits_a_small_screen(page: Page, open_page: OpenPage, name: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 800})
    open_page(name)
    drawn(page)
    main = page.locator("[data-testid=stMain]")
    assert main.evaluate("(main) => main.scrollHeight - main.clientHeight") <= 0


def test_a_tab_is_opened_by_keyboard_and_kept_by_the_address(page: Page, open_page: OpenPage) -> None:
    open_page("monitor")
    page.get_by_role("tab", name="Summary").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    heading = page.get_by_role("heading", name="Learning curves")
    expect(heading).to_be_visible()
    assert "tab=Curves" in page.url
    page.reload()
    expect(heading).to_be_visible()
    expect(page.get_by_role("tab", name="Curves")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("heading", name="What to do next")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_there_are_plots_and_words_and_nothing_to_press(page: Page, open_page: OpenPage, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_page("monitor-curves")
    page.emulate_media(media="print", color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 680, "height": 1000})  # A4 less its margins
    drawn(page)
    for gone in (
        "[data-testid=stSidebar]",
        "[data-testid^=stBaseButton]",
        "[data-testid=stNumberInput]",
        "[aria-pressed=false]",
        "[data-testid=stDataFrame]",
        "[role=tab][aria-selected=false]",
    ):
        assert page.locator(gone).locator("visible=true").count() == 0, gone
    plots = page.locator("[data-testid=stVegaLiteChart] svg.marks")
    expect(plots).to_have_count(SHOWN["monitor-curves"].plots)
    page.wait_for_function(FIT)
    heading = page.get_by_role("heading", name="Forecast")
    assert heading.evaluate("(it) => getComputedStyle(it).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    inverted = plots.first.evaluate("(it) => getComputedStyle(it).filter")
    assert (inverted != "none") is (scheme == "dark")
    pdf = page.pdf(format="A4")
    assert 3 <= pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") <= 12


def test_the_model_is_downloaded_as_a_folder(
    page: Page, open_page: OpenPage, app: App, project: int, tmp_path: Path
) -> None:
    folder = write_model_folder(app.home, f"matchers/{project}-4")
    open_page("monitor-model")
    with page.context.expect_event("download") as downloading:
        page.get_by_role("link", name="Download model").click()
    downloading.value.save_as(tmp_path / "model.zip")
    with ZipFile(tmp_path / "model.zip") as bundle:
        details = json.loads(bundle.read("example-made-up-figures-round-4/matcher.json"))
    assert details.items() >= json.loads((folder / "matcher.json").read_text(encoding="utf-8")).items()
