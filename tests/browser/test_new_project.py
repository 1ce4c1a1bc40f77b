"""The page New project in a real browser: three steps, a bar that stays in view, and a project after two clicks."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect
from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import project_by_name
from tests.helpers.browser import App, Picture, drawn
from tests.helpers.projects.lists import write_questions


def open_page(page: Page, app: App) -> Locator:
    """Open the page and return its button *Create*."""
    page.goto(f"{app.url}/new_project")
    expect(page.get_by_role("heading", name="New project", exact=True)).to_be_visible(timeout=30_000)
    drawn(page)  # a field of files that is still drawn anew would lose the file
    return page.get_by_role("button", name="Create")


def choose(page: Page, which: int, path: Path) -> None:
    page.get_by_test_id("stFileUploader").nth(which).locator("input[type=file]").set_input_files(path)


def test_a_file_and_one_click_make_a_project(page: Page, app: App, database: Engine, tmp_path: Path) -> None:
    path = write_questions(tmp_path).joinpath("q.csv").rename(tmp_path / "one_click.csv")
    create = open_page(page, app)
    expect(create).to_be_disabled()
    choose(page, 0, path)
    expect(create).to_be_enabled()
    expect(create).to_be_in_viewport(ratio=1)
    create.click()
    expect(page.get_by_text("Preparing the first batch")).to_be_visible()
    expect(page.locator(".question")).to_have_text(project_by_name(database, "One click").settings.question)


def test_steps_lose_nothing_and_create_stays_in_view(page: Page, app: App, tmp_path: Path, picture: Picture) -> None:
    create = open_page(page, app)
    choose(page, 0, write_questions(tmp_path) / "q.csv")
    expect(create).to_be_enabled()
    expect(page.get_by_role("checkbox", name="text")).to_be_checked()
    step = page.get_by_role("tab", selected=True)
    for name in ("2 Question", "3 Create"):
        page.get_by_role("button", name="Next").click()
        expect(step).to_have_text(name)
        picture(page)
        expect(create).to_be_in_viewport(ratio=1)
    page.get_by_text("Batches:").click()
    page.get_by_role("spinbutton", name="First batch").fill("1")
    page.keyboard.press("Tab")
    expect(page.get_by_role("alert").filter(has_text="First batch: should be")).to_be_visible()
    expect(create).to_be_disabled()
    page.get_by_role("spinbutton", name="First batch").fill("64")
    page.keyboard.press("Tab")
    expect(create).to_be_enabled()
    page.get_by_role("button", name="Back").click()
    page.get_by_label("Question", exact=True).fill("Is it the same?")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("Advanced settings: First batch 64")).to_be_visible()
    drawn(page)
    page.reload()
    expect(page.get_by_text("Question: Is it the same?")).to_be_visible()
    expect(step).to_have_text("3 Create")
