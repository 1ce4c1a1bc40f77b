"""Two people in one project: one labels, one may only view; and an ending login reaches the open page."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import list_projects, update_settings
from allpairs.annotate.frame.access import invitations, people, tokens
from allpairs.db.domain import Role, Settings
from allpairs.db.schema.engine import as_person, make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Answer, Worker, now
from tests.helpers.browser import DESKTOP, SCREENS, App, Picture, settle
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import free_port
from tests.helpers.people import PASSWORD


def make_app(home: Path) -> tuple[App, Engine]:
    """Return an app that has not started, with an empty database and as if a worker were alive."""
    app = App(home, free_port())
    url = f"sqlite:///{app.home / 'allpairs.db'}"
    migrate(url)
    engine = make_engine(url)
    with writing(engine) as session:
        session.add(Worker(executor_id="test", host="test", pid=0, device="cpu", seen_at=now().replace(year=2100)))
    return app, engine


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    """Yield an app with the project “Team”: Anna labels, Vera views, Root manages the installation."""
    app, engine = make_app(tmp_path_factory.mktemp("team"))
    texts = [f"How do I do thing number {i}?" for i in range(40)]
    project_id = make_project(engine, texts, name="Team", auto_train=False)
    make_round(engine, project_id, 60)  # more than one person leases
    people.add_account(engine, "Root", PASSWORD, now(), administrator=True)
    root = as_person(engine, people.id_of(engine, "Root"))
    tokens.make(engine, people.id_of(engine, "Root"), "nightly import", now(), 90)
    for name, role in (("Anna", Role.ANNOTATOR), ("Vera", Role.VIEWER)):
        people.add_account(root, name, PASSWORD, now())
        people.set_role_by_name(root, name, "Team", role, now())
    guidelines = "**Yes** if one answer would do for both. Dates and versions count."
    changed = {"guidelines": guidelines, "first": 64, "auto_train": False}
    update_settings(root, project_id, Settings.model_validate(list_projects(root)[0].settings.model_dump() | changed))
    app.start()
    yield app
    app.stop()
    engine.dispose()


@pytest.fixture
def open_context(chromium: Browser) -> Iterator[Callable[..., BrowserContext]]:
    contexts: list[BrowserContext] = []

    def open_(**options: object) -> BrowserContext:
        contexts.append(chromium.new_context(**({"viewport": DESKTOP} | options)))  # type: ignore[arg-type]
        return contexts[-1]

    yield open_
    for context in contexts:
        context.close()


def log_in(page: Page, app: App, name: str, to: str = "/label") -> None:
    """Sign the person in and wait for the requested page."""
    page.goto(app.url + to)
    expect(page).to_have_url(re.compile("/login"))
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).not_to_have_url(re.compile("/login"))


def links(page: Page) -> list[str]:
    """Return the listed pages."""
    found = page.locator(".st-key-menu a")
    expect(found.first).to_be_visible(timeout=30_000)
    return [text.splitlines()[-1] for text in found.all_inner_texts()]


def test_one_labels_and_the_other_may_only_look(team: App, open_context: Callable[..., BrowserContext]) -> None:
    anna, vera = open_context().new_page(), open_context().new_page()
    log_in(anna, team, "anna")
    expect(anna.locator(".pair")).to_be_visible(timeout=30_000)
    assert links(anna) == ["Overview", "Projects", "Label", "My answers", "API", "Account"]
    for key in "112":
        anna.keyboard.press(key)
    settle(anna, 3)
    engine = make_engine(f"sqlite:///{team.home / 'allpairs.db'}")
    with reading(engine) as session:
        assert set(session.scalars(select(Answer.annotator))) == {"Anna"}
    engine.dispose()
    log_in(vera, team, "Vera", "/label?annotator=Anna")
    expect(vera.get_by_text("role does not include")).to_be_visible(timeout=30_000)
    expect(vera.get_by_role("link", name="Monitor", exact=True)).to_be_visible(timeout=15_000)
    assert links(vera) == ["Overview", "Projects", "Clean list", "Monitor", "Explore", "Jobs", "API", "Account"]
    expect(vera.locator(".pair")).to_have_count(0)


def test_logging_out_everywhere_reaches_the_page_that_is_open(
    team: App, open_context: Callable[..., BrowserContext]
) -> None:
    here, there = open_context().new_page(), open_context().new_page()
    for page in (here, there):
        log_in(page, team, "Anna")
        expect(page.locator(".pair")).to_be_visible(timeout=30_000)
    here.reload()
    expect(here.locator(".pair")).to_be_visible(timeout=30_000)  # the login survives a reload
    here.goto(f"{team.url}/account")
    here.get_by_role("button", name="Sign out everywhere").click(timeout=30_000)
    for page in (here, there):
        expect(page).to_have_url(re.compile("/login"), timeout=30_000)
    there.goto(f"{team.url}/?project=Team")
    expect(there).to_have_url(re.compile("/login"))


def test_a_link_lets_somebody_in_and_a_new_role_takes_effect(
    team: App, open_context: Callable[..., BrowserContext]
) -> None:
    root, nora = open_context().new_page(), open_context().new_page()
    log_in(root, team, "Root", "/people")
    root.get_by_role("button", name="Create link").click(timeout=30_000)
    link = root.get_by_test_id("stCode").inner_text()
    assert f"{team.url}/{invitations.PATH}/" in link
    nora.goto(link.strip())
    nora.get_by_label("Your name").fill("Nora")
    for field in ("A password", "Repeat the password"):
        nora.get_by_label(field).fill(PASSWORD)
    nora.get_by_role("button", name="Create account").click()
    nora.get_by_role("link", name="Label", exact=True).click(timeout=30_000)
    expect(nora.locator(".pair")).to_be_visible(timeout=30_000)
    root.reload()
    root.get_by_role("combobox", name=re.compile("Role of Nora")).click(timeout=30_000)
    root.get_by_role("option", name="viewer").click()
    expect(nora.get_by_text("role does not include")).to_be_visible(timeout=30_000)
    assert "Label" not in links(nora)


def test_the_first_administrator_is_made_in_the_app(
    tmp_path: Path, open_context: Callable[..., BrowserContext]
) -> None:
    app, engine = make_app(tmp_path)
    make_project(engine, ["a", "b"], name="Alone", auto_train=False)
    engine.dispose()
    app.start()
    try:
        anna, other = open_context().new_page(), open_context().new_page()
        other.goto(f"{app.url}/projects")
        expect(other.get_by_role("heading", name="Projects")).to_be_visible(timeout=30_000)
        anna.goto(f"{app.url}/people")
        anna.get_by_label("Name (stored").fill("Anna", timeout=30_000)
        for field in ("Password, 10", "Password again"):
            anna.get_by_label(field).fill(PASSWORD)
        anna.get_by_role("button", name="Make the first administrator").click()
        for page in (anna, other):
            expect(page).to_have_url(re.compile("/login"), timeout=30_000)
        anna.get_by_label("Name").fill("Anna")
        anna.get_by_label("Password").fill(PASSWORD)
        anna.get_by_role("button", name="Sign in").click()
        expect(anna.get_by_text("administrator of the installation", exact=False).first).to_be_visible(timeout=30_000)
    finally:
        app.stop()


def test_how_the_pages_of_people_look(team: App, open_context: Callable[..., BrowserContext], picture: Picture) -> None:
    page = open_context().new_page()
    page.goto(team.url)
    page.get_by_label("Name").fill("Root")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    for screen in SCREENS[::-1]:
        screen.apply(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    log_in(page, team, "Root", "/people")
    expect(page.get_by_role("heading", name="People")).to_be_visible(timeout=30_000)
    picture(page, "people", 1300)
    page.goto(f"{team.url}/account")
    expect(page.get_by_role("button", name="Change password")).to_be_visible(timeout=30_000)
    picture(page, height=1300)
    page.get_by_role("link", name="API tokens").click()
    expect(page.get_by_role("button", name="Revoke")).to_be_visible(timeout=30_000)
    expect(page.get_by_label("Purpose of the")).to_be_visible(timeout=30_000)
    picture(page, height=1300)
    page.goto(f"{team.url}/api/v1/docs")
    expect(page.get_by_role("heading", name="Allpairs REST API")).to_be_visible()
    for screen in SCREENS[::-1]:
        screen.apply(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.goto(f"{team.url}/history")
    expect(page.get_by_text("Settings changed").first).to_be_visible(timeout=30_000)
    expect(page.get_by_text(re.compile("UTC · Root")).nth(2)).to_be_visible()  # the settings, and two roles
    picture(page, "history", 1300)
