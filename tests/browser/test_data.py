"""Export and import in a real browser."""

import re
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from urllib.parse import quote, quote_plus

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import delete_project, list_projects
from allpairs.db.results.matches import write_summary
from tests.helpers.browser import App, Picture, drawn
from tests.helpers.figures.measured import make_measured_project, write_model_folder
from tests.helpers.projects.results import make_matches

NAME = "Example (made-up figures)"
TABLE = """\
id1,id2,label,annotator
left-150,left-151,1,ann
left-150,left-152,0,ann
left-150,left-999,1,ann
left-151,left-152,perhaps,ann
left-150,left-151,1,ann
"""


@pytest.fixture
def project(app: App, database: Engine) -> Iterator[int]:
    project_id = make_measured_project(database, NAME)
    for number in range(1, 5):
        write_model_folder(app.home, f"matchers/{project_id}-{number}")
    folder = app.home / "artifacts" / f"project-{project_id}" / "matches"
    folder.mkdir(parents=True)
    write_summary(folder, make_matches(4, 0.6111, 1204, 312, 871))
    yield project_id
    for found in list_projects(database):
        if found.name.startswith("Example"):
            delete_project(database, found.id)


@pytest.fixture
def data(page: Page, app: App, project: int) -> Page:
    open_data(page, app)
    return page


def open_data(page: Page, app: App) -> None:
    page.goto(f"{app.url}/data?project={quote(NAME)}")
    expect(page.get_by_text("The whole project")).to_be_visible(timeout=30_000)


def upload(page: Page, which: str, path: Path) -> None:
    field = page.locator(f".st-key-{which}_upload")
    for last in (False, True):  # a file that is chosen while the page is drawn is lost, and chosen again
        drawn(page)
        field.locator("input[type=file]").set_input_files(path)
        with nullcontext() if last else suppress(AssertionError):
            expect(field.get_by_text(path.name)).to_be_visible(timeout=10_000)
            return


def downloaded(page: Page, link: str, to: Path) -> Path:
    with page.context.expect_event("download", timeout=60_000) as downloading:
        page.get_by_role("link", name=link).click()
    downloading.value.save_as(to)
    return to


def test_labels_go_away_as_parquet(data: Page, tmp_path: Path) -> None:
    data.get_by_role("radio", name="Parquet").first.click()
    expect(data.get_by_role("link", name="Download labels")).to_have_attribute("href", re.compile("parquet"))
    table = pq.read_table(downloaded(data, "Download labels", tmp_path / "labels.parquet"))
    assert table.num_rows == 325 and {"id1", "id2", "label", "annotator"} <= set(table.column_names)


def test_a_project_goes_out_and_comes_in_again(data: Page, database: Engine, tmp_path: Path) -> None:
    archive = downloaded(data, "Download project", tmp_path / "example.zip")
    upload(data, "bring_project", archive)
    button = data.get_by_role("button", name="Import project")
    expect(button).to_be_enabled(timeout=30_000)
    button.click()
    expect(data.get_by_text("180 texts and 325 answers")).to_be_visible(timeout=60_000)
    copy = next(found for found in list_projects(database) if found.name == f"{NAME} (2)")
    original = next(found for found in list_projects(database) if found.name == NAME)
    assert (copy.answers, copy.rounds, copy.created_at) == (original.answers, original.rounds, original.created_at)
    data.get_by_role("link", name="Open the project").click()
    data.wait_for_url(f"**/label?project={quote_plus(f'{NAME} (2)')}*", timeout=30_000)


def test_a_file_is_checked_before_it_is_stored(
    page: Page, app: App, project: int, tmp_path: Path, picture: Picture
) -> None:
    open_data(page, app)
    (tmp_path / "labels.csv").write_text(TABLE)
    upload(page, "bring_labels", tmp_path / "labels.csv")
    page.get_by_role("button", name="Check file").click(timeout=30_000)
    expect(page.get_by_role("button", name="Store 2 labels")).to_be_visible(timeout=30_000)
    page.get_by_text("1 row: the project has").click()
    expect(page.get_by_role("region", name="Rows of the file")).to_be_visible()
    picture(page, "data", 2900, 3500)
