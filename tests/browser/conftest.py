"""A running app, Chromium, and projects to label; every test has its own project."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect
from sqlalchemy import Engine, update

from allpairs.db.projects.jobs import OPEN
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job, Project
from tests.helpers.browser import DESKTOP, SCREENS, App, Desk, Outside, Picture, drawn, workless_database
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT, free_port

expect.set_options(timeout=20_000)  # milliseconds: a busy machine is slow, and what does not come is a failure then
PICTURES = ROOT / "docs" / "screenshots"


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = workless_database(tmp_path_factory.mktemp("home"))  # these tests play the worker themselves
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def app(database: Engine) -> Iterator[App]:
    with Outside() as outside:
        app = App(Path(str(database.url.database)).parent, free_port(), proxy=outside.url)
        app.start()
        yield app
        app.stop()
    assert outside.asked == [], "the app called an address outside"


_numbers = count(1)


@pytest.fixture
def make_desk(app: App, database: Engine) -> Callable[..., Desk]:
    """Return a function that makes a project with one batch, with generated texts by default.

    No job waits for one that a test before has left.
    """
    with writing(database) as session:
        session.execute(update(Job).where(Job.state.in_(OPEN)).values(state="cancelled"))

    def make(
        n: int, reserve: int = 0, texts: Sequence[str] = (), right: Sequence[str] = (), name: str = "", **settings: Any
    ) -> Desk:
        name = name or f"Project {next(_numbers)}"
        with writing(database) as session:  # the name may be that of a test before
            session.execute(update(Project).where(Project.name == name).values(name=f"Before {next(_numbers)}"))
        texts = texts or [f"How do I do thing number {i}?" for i in range(30)]
        project_id = make_project(database, texts, right, name=name, **({"auto_train": False} | settings))
        if n:
            make_round(database, project_id, n, reserve)
        return Desk(database, project_id, f"{app.url}/label?project={quote(name)}")

    return make


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport=DESKTOP, reduced_motion="reduce")  # type: ignore[arg-type]
    yield context
    context.close()


@pytest.fixture
def picture(request: pytest.FixtureRequest) -> Picture:
    """Return a function that checks that a page fits a light desktop and a dark phone, and has their colours.

    With a name and `--screenshots` it also takes the picture for the documents, of the light desktop; height, phone:
    heights in pixels for that picture.
    """
    taken = request.config.getoption("--screenshots")

    def take(page: Page, name: str = "", height: int = 0, phone: int = 0) -> None:
        for screen in SCREENS:
            screen.apply(page, (phone if screen.is_phone and phone else height) if taken else 0)
            drawn(page)
            main = page.locator("[data-testid=stMain]")
            assert main.evaluate("(main) => main.scrollWidth <= main.clientWidth"), f"{name} is wider than the screen"
            background = page.locator("[data-testid=stApp]").evaluate("(app) => getComputedStyle(app).backgroundColor")
            assert (sum(map(int, background[4:-1].split(","))) < 384) is (screen.scheme == "dark")
            if taken and name and screen == SCREENS[0]:
                main.evaluate("(main) => main.scrollTo(0, 0)")
                (PICTURES / f"{name}-{screen.name}.png").write_bytes(still(page))
        SCREENS[0].apply(page)

    return take


def still(page: Page) -> bytes:
    """Return the page as it looks twice in a row."""
    for _ in range(50):
        one, other = page.screenshot(), page.screenshot()
        if one == other:
            return one
    raise AssertionError("something on the page moves on and on")


def is_missing(response: Response) -> bool:
    """Return whether the app does not have what the page asked for."""
    # Streamlit asks for a download as it draws the button, which may be after the next run has replaced the file.
    return response.status == 404 and "/media/" not in response.url


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    errors: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Content Security" in message.text else None)
    page.on("response", lambda response: errors.append(response.url) if is_missing(response) else None)
    yield page
    assert errors == []
