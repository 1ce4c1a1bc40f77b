"""A messy workbook in, 40 answers, two groups corrected, and the clean workbook out: as a new user does it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from openpyxl import Workbook, load_workbook
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.label.queue import record
from allpairs.db.projects.jobs import OPEN
from allpairs.db.projects.stable_groups import grouped_items
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Identifier, Job, Project, Round, StoredModel, Task
from benchmarks.lists.make import messy_list
from tests.helpers.browser import App, Picture, drawn
from tests.helpers.machine import free_port
from tests.helpers.services.workers import wait_for

ANSWERS = 40
JOBS = 300  # seconds: the worker loads torch, encodes, searches, trains
Table = list[tuple[str, ...]]


@pytest.fixture
def worked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[App, Engine]]:
    """Yield an empty app with a worker of its own."""
    home = tmp_path / "home"
    home.mkdir()
    app = App(home, free_port())
    monkeypatch.setenv("ALLPAIRS_HOME", str(app.home))
    monkeypatch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
    try:
        app.start()
        engine = make_engine()
        yield app, engine
        engine.dispose()
    finally:
        app.stop()


def write_list(rows: Sequence[Mapping[str, str]], path: Path) -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(list(rows[0]))
    for row in rows:
        sheet.append(list(row.values()))
    book.save(path)


def idle(engine: Engine, matcher: int) -> bool:
    """Return whether this matcher is made, and no job is open."""
    with reading(engine) as session:
        newest = session.scalar(select(func.max(StoredModel.number)))
        open_jobs = session.scalar(select(func.count()).select_from(Job).where(Job.state.in_(OPEN)))
    return newest == matcher and not open_jobs


def answer_with_truth(engine: Engine, truth: Mapping[str, int], count: int) -> None:
    """Answer the first pairs of the batch as the truth says, the last ones with skip."""
    with reading(engine) as session:
        project_id = session.scalars(select(Project.id)).one()
        ids = session.execute(select(Identifier.external_id, Identifier.item_id)).all()
        group = {item: truth[name] for name, item in ids}
        batch = session.scalars(select(Round).where(Round.number == 1)).one()
        tasks = session.scalars(select(Task).where(Task.round_id == batch.id).order_by(Task.position)).all()
    answers = {True: "positive", False: "negative"}
    events = [
        {
            "key": f"answer-{task.id}",
            "task_id": task.id,
            "answer": answers[group[task.left_id] == group[task.right_id]] if place < count else "unsure",
        }
        for place, task in enumerate(tasks[: batch.size])
    ]
    assert len(record(engine, project_id, "me", events).stored) == batch.size


def groups_by_id(engine: Engine) -> dict[str, int]:
    """Return the group of each id of the list."""
    with reading(engine) as session:
        groups = dict(zip(*grouped_items(session, session.scalars(select(Project.id)).one()), strict=True))
        ids = session.execute(select(Identifier.external_id, Identifier.item_id)).all()
    return {name: groups[item] for name, item in ids if item in groups}


def sheets(path: Path) -> dict[str, Table]:
    """Return the rows of each sheet, the head first, each cell as text."""
    book = load_workbook(path)
    return {
        sheet.title: [tuple("" if cell is None else str(cell) for cell in row) for row in sheet.values]
        for sheet in book
    }


def download(page: Page, path: Path) -> dict[str, Table]:
    """Download the clean list; return its sheets."""
    with page.expect_download() as waited:
        page.get_by_role("link", name="Download clean list").click()
    waited.value.save_as(path)
    return sheets(path)


def require_clean(tables: Mapping[str, Table], rows: Sequence[Mapping[str, str]], groups: Mapping[str, int]) -> None:
    """Check that every row and column is in the marked list once, and one row of each group in the clean one."""
    head, *marked = tables["Marked"]
    columns = tuple(rows[0])
    assert head[: len(columns)] == columns == tables["Clean"][0]
    assert [row[: len(columns)] for row in marked] == [tuple(row.values()) for row in rows]
    group, keep = (head.index(name) for name in ("group", "keep"))
    assert {row[0]: int(row[group][1:]) for row in marked if row[group]} == groups
    stays = [row[: len(columns)] for row in marked if row[keep] == "yes"]
    assert tables["Clean"][1:] == stays
    assert len(stays) == len(marked) - len(groups) + len(set(groups.values()))


def test_a_messy_workbook_goes_home_clean(
    page: Page, worked: tuple[App, Engine], tmp_path: Path, picture: Picture
) -> None:
    app, engine = worked
    messy = messy_list("customers", 300, 5)
    truth = dict(zip(messy.ids, messy.group.tolist(), strict=True))
    write_list(messy.rows, tmp_path / "customers.xlsx")

    page.goto(f"{app.url}/new_project")
    expect(page.get_by_role("heading", name="New project", exact=True)).to_be_visible(timeout=60_000)
    drawn(page)
    page.get_by_test_id("stFileUploader").first.locator("input[type=file]").set_input_files(tmp_path / "customers.xlsx")
    create = page.get_by_role("button", name="Create")
    expect(create).to_be_enabled(timeout=60_000)
    create.click()
    expect(page.locator(".pair")).to_be_visible(timeout=1_000 * JOBS)
    wait_for(lambda: idle(engine, 0), JOBS)
    assert groups_by_id(engine)  # nobody had to ask for them
    answer_with_truth(engine, truth, ANSWERS)
    wait_for(lambda: idle(engine, 1), JOBS)

    page.goto(f"{app.url}/clean?project=Customers&annotator=me")
    expect(page.get_by_text("groups left")).to_be_visible(timeout=60_000)
    expect(page.get_by_text("the clean list has")).to_be_visible()
    drawn(page)
    picture(page, "clean-list", 1500)
    before = groups_by_id(engine)
    page.keyboard.press("b")  # the second row
    expect(page.locator("tr[style*=line-through]")).to_have_count(1)
    drawn(page)
    page.keyboard.press("2")
    expect(page.get_by_text("Your last decision")).to_be_visible()
    drawn(page)
    split = groups_by_id(engine)
    assert split != before
    lone = next(row for row in messy.rows if row["Kundennr."] not in split)
    page.keyboard.press("m")
    search = page.get_by_placeholder("Words of a row")
    search.fill(lone["Nachname"])
    search.press("Enter")
    page.get_by_role("button", name=f"{lone['Kundennr.']} · ").click()
    wait_for(lambda: lone["Kundennr."] in groups_by_id(engine))
    decided = groups_by_id(engine)
    page.reload()
    expect(page.get_by_text("the clean list has")).to_be_visible(timeout=60_000)
    drawn(page)

    require_clean(download(page, tmp_path / "clean.xlsx"), messy.rows, decided)
    pairs = [pair for pair in combinations(before, 2) if before[pair[0]] == before[pair[1]]]
    assert sum(truth[left] == truth[right] for left, right in pairs) >= 0.8 * len(pairs) > 20

    double = messy.rows[50] | {"Kundennr.": "9001"}
    stranger = dict.fromkeys(messy.kind.columns, "") | {"Kundennr.": "9002", "Nachname": "Zwirbelbaum", "Ort": "Husum"}
    later = [*messy.rows[1:], double, stranger]
    write_list(later, tmp_path / "later.xlsx")
    page.get_by_text("New version of the list").click()
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(tmp_path / "later.xlsx")
    page.get_by_role("button", name="Take over").click()
    wait_for(lambda: "9001" in groups_by_id(engine) and idle(engine, 1), JOBS)
    renewed = groups_by_id(engine)
    assert "9002" not in renewed
    gone = messy.ids[0]
    assert {name: number for name, number in decided.items() if name != gone}.items() <= renewed.items()
    page.reload()
    expect(page.get_by_text("2 new rows")).to_be_visible(timeout=60_000)
    drawn(page)
    require_clean(download(page, tmp_path / "later-clean.xlsx"), later, renewed)
