"""Whole projects in a real browser: duplicated, archived, deleted and restored; the tour."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.lifecycle import archive_project, bin_project
from allpairs.annotate.features.projects.projects import list_projects
from allpairs.db.domain import AnswerKind
from allpairs.db.schema.engine import make_engine, migrate, writing
from allpairs.db.schema.tables import Answer, Round, StoredModel, Task, Worker, now
from tests.helpers.browser import PHONE, App, MakeDesk, Picture
from tests.helpers.factories import drop_project, make_project, make_round
from tests.helpers.figures.measured import answer_on, make_audited_project, make_measured_project, write_model_folder
from tests.helpers.machine import free_port

EXACT, SAMPLED = "Example (made-up figures)", "Example without gold (made-up figures)"
NEW, OLD, GONE = "Products, two lists", "Questions of 2024", "First attempt"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def own(home: Path) -> Iterator[tuple[App, Engine]]:
    """Yield an app of its own, so that the list is complete."""
    url = f"sqlite:///{home / 'allpairs.db'}"
    migrate(url)
    engine = make_engine(url)
    with writing(engine) as session:  # the app starts a worker unless one is alive
        session.add(Worker(executor_id="test", host="test", pid=0, device="cpu", seen_at=now() + timedelta(days=1)))
    app = App(home, free_port(), demo=True)
    app.start()  # an empty database: the demo is made
    yield app, engine
    app.stop()
    engine.dispose()


def spread(engine: Engine, project_id: int, days: int) -> None:
    """Spread the project's labels over the last days, with its rounds trained in between."""
    with writing(engine) as session:
        answers = session.scalars(select(Answer).where(Answer.project_id == project_id).order_by(Answer.id)).all()
        for place, answer in enumerate(answers):
            answer.created_at = now() - timedelta(days=days * (1 - place / len(answers)) ** 1.5)
        for matcher in session.scalars(select(StoredModel).where(StoredModel.project_id == project_id)):
            matcher.created_at = now() - timedelta(hours=3 * (5 - matcher.number))


@pytest.fixture
def stocked(own: tuple[App, Engine]) -> tuple[App, Engine]:
    """Return the app with projects in every state."""
    app, engine = own
    gone = make_project(engine, ["a", "b"], name=GONE)
    old = make_project(engine, [f"text {i}" for i in range(40)], name=OLD)
    make_round(engine, old, 10)
    exact = make_measured_project(engine, EXACT)
    write_model_folder(app.home, f"matchers/{exact}-4")
    sampled = make_audited_project(engine, SAMPLED, rounds=4)
    make_project(engine, [f"left {i}" for i in range(12)], [f"right {i}" for i in range(30)], name=NEW)
    for project, days in ((exact, 12), (sampled, 5)):
        make_round(engine, project, 60)
        spread(engine, project, days)
    with writing(engine) as session:
        newest = select(Round.id).where(Round.project_id == exact).order_by(Round.number.desc()).limit(1)
        tasks = session.scalars(select(Task).where(Task.round_id == newest.scalar_subquery(), Task.position < 23)).all()
        session.add_all(answer_on(task, AnswerKind.NEGATIVE) for task in tasks)
    archive_project(engine, old)
    bin_project(engine, gone)
    return app, engine


def card(page: Page, name: str) -> object:
    return page.locator("[class*='st-key-project_']").filter(has=page.get_by_role("heading", name=name, exact=True))


def open_projects(page: Page, app: App) -> None:
    page.goto(f"{app.url}/projects")
    expect(page.get_by_role("heading", name="Projects", exact=True)).to_be_visible(timeout=30_000)


def choose(page: Page, name: str, act: str) -> None:
    """Choose an entry of the card's menu."""
    card(page, name).get_by_role("button", name="More").click()  # type: ignore[attr-defined]
    page.get_by_role("menuitem", name=act).click()


def look(page: Page, picture: Picture) -> None:
    """Look at projects in every state."""
    page.get_by_text("Show archived (1)").click()
    expect(card(page, OLD)).to_be_visible(timeout=15_000)  # type: ignore[arg-type]
    page.get_by_text("Bin (1)").click()
    expect(page.get_by_role("button", name="Remove permanently")).to_be_visible()
    picture(page, "projects", 1250, 2300)


def test_a_project_is_duplicated_archived_deleted_and_restored(
    stocked: tuple[App, Engine], page: Page, picture: Picture
) -> None:
    app, engine = stocked
    demo = next(row for row in list_projects(engine) if row.name == "Help desk (demo)")
    drop_project(engine, demo.id)
    open_projects(page, app)
    look(page, picture)
    open_projects(page, app)
    expect(card(page, OLD)).to_have_count(0)  # type: ignore[arg-type]

    choose(page, EXACT, "Duplicate")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name of the copy")).to_have_value(f"{EXACT} copy")
    dialog.get_by_text("Copy the labels too").click()
    dialog.get_by_role("button", name="Duplicate", exact=True).click()
    expect(card(page, f"{EXACT} copy")).to_be_visible(timeout=15_000)  # type: ignore[arg-type]
    labels = {row.name: sum(row.answers.values()) for row in list_projects(engine)}
    assert labels[f"{EXACT} copy"] == labels[EXACT] == 348

    choose(page, f"{EXACT} copy", "Delete")
    expect(dialog).to_contain_text("180 texts, 348 labels, 0 models")
    delete = dialog.get_by_role("button", name="Delete", exact=True)
    expect(delete).to_be_disabled()
    dialog.get_by_text(f"Delete {EXACT} copy").last.click()
    delete.click()
    expect(card(page, f"{EXACT} copy")).to_have_count(0, timeout=15_000)  # type: ignore[arg-type]
    expect(page.get_by_text("Bin (2)")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(card(page, f"{EXACT} copy")).to_be_visible(timeout=15_000)  # type: ignore[arg-type]

    choose(page, f"{EXACT} copy", "Archive")
    dialog.get_by_role("button", name="Archive", exact=True).click()
    expect(card(page, f"{EXACT} copy")).to_have_count(0, timeout=15_000)  # type: ignore[arg-type]
    page.get_by_text("Show archived (2)").click()
    card(page, OLD).get_by_role("button", name="Restore").click()  # type: ignore[attr-defined]
    expect(page.get_by_text("Show archived (1)")).to_be_visible(timeout=15_000)

    page.get_by_text("Bin (1)").click()
    page.get_by_role("button", name="Remove permanently").click()
    dialog.get_by_text(f"Remove {GONE} permanently").last.click()
    dialog.get_by_role("button", name="Remove permanently").click()
    expect(page.get_by_text("Bin (1)")).to_have_count(0, timeout=15_000)
    assert GONE not in [row.name for row in list_projects(engine, everything=True)]
    choose(page, OLD, "Delete")
    expect(dialog).to_be_visible(timeout=15_000)
    page.keyboard.press("Escape")  # a question that is put aside is not asked again
    expect(dialog).to_have_count(0)
    page.get_by_text("Show archived (1)").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_overview_leads_through_the_demo(own: tuple[App, Engine], page: Page) -> None:
    app, engine = own
    page.goto(app.url)
    panel = page.locator(".st-key-next_step")
    menu = page.locator(".st-key-menu")
    expect(panel).to_contain_text("40 pairs of batch 1", timeout=30_000)
    panel.get_by_role("button", name="Label pairs").click()
    expect(page.locator(".pair")).to_be_visible(timeout=30_000)
    expect(page).to_have_title("Label · Help desk (demo) · Allpairs")
    page.keyboard.press("2")
    expect(page.locator(".counts")).to_contain_text("1 of 40 answered")
    with writing(engine) as session:
        tasks = session.scalars(select(Task).where(Task.position < 40)).all()
        session.add_all(answer_on(task, AnswerKind.NEGATIVE) for task in tasks)
    menu.get_by_role("link", name="Monitor", exact=True).click()
    expect(page.get_by_role("heading", name="Monitor", exact=True)).to_be_visible()
    expect(menu.locator("[aria-current=page]")).to_contain_text("Monitor")
    page.go_back()
    expect(page).to_have_title("Label · Help desk (demo) · Allpairs")
    page.go_back()
    expect(panel).to_contain_text("Batch 1 is complete")
    href = menu.get_by_role("link", name="Export", exact=True).get_attribute("href")
    assert href == "/data?project=Help+desk+%28demo%29"  # opened in another tab, it is the same project


def test_a_link_closes_the_menu_of_a_phone(page: Page, app: App, make_desk: MakeDesk) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.goto(make_desk(4).url)
    page.get_by_test_id("stExpandSidebarButton").click()
    sidebar = page.get_by_test_id("stSidebar")
    expect(sidebar).to_have_attribute("data-collapsed", "false")
    sidebar.get_by_role("link", name="Jobs", exact=True).click()
    expect(page.get_by_role("heading", name="Jobs", exact=True)).to_be_visible()
    expect(sidebar).to_have_attribute("data-collapsed", "true")
