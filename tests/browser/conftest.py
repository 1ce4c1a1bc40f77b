"""A running app, Chromium, and projects to label; every test has a project of its own."""

import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from sqlalchemy import Engine, select, update

from db.domain import AnswerKind
from db.labels.answers import current_labels
from db.schema.engine import make_engine, migrate, reading, writing
from db.schema.tables import Answer, Project, Task, Worker, now
from tests.conftest import ROOT
from tests.helpers.factories import make_project, make_round
from tests.helpers.services.ports import free_port

CHROMIUM = Path("/usr/bin/chromium")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")


@dataclass(frozen=True)
class Desk:
    """A project of its own for one test, and what is stored of it."""

    engine: Engine
    project_id: int
    url: str

    @property
    def answers(self) -> list[Answer]:
        with reading(self.engine) as session:
            mine = select(Answer).where(Answer.project_id == self.project_id)
            return list(session.scalars(mine.order_by(Answer.id)))

    @property
    def tasks(self) -> list[Task]:
        with reading(self.engine) as session:
            mine = select(Task).where(Task.project_id == self.project_id)
            return list(session.scalars(mine.order_by(Task.id)))

    @property
    def labels(self) -> list[AnswerKind | None]:
        """The label of each task in the order of tasks."""
        with reading(self.engine) as session:
            found = {label.task_id: label.answer for label in current_labels(session, self.project_id)}
        return [found.get(task.id) for task in self.tasks]


@dataclass
class App:
    """The app in a process of its own; database: its address, without one a file in its home."""

    home: Path
    port: int
    demo: bool = False
    database: str = ""
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        environment = os.environ | {"ALLPAIRS_HOME": str(self.home), "ALLPAIRS_DEMO": str(int(self.demo))}
        environment["ALLPAIRS_DATABASE_URL"] = self.database
        options = ["--server.headless", "true", "--server.port", str(self.port)]
        command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
        with (self.home / "app.log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        self._wait()

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(timeout=60)

    def kill(self) -> None:
        """Nothing; the app is gone, without having had the time to finish anything."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def _wait(self) -> None:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=1)
                return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError((self.home / "app.log").read_text())


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    url = f"sqlite:///{tmp_path_factory.mktemp('home') / 'allpairs.db'}"
    migrate(url)
    engine = make_engine(url)
    with writing(engine) as session:
        # The app starts a worker unless one is alive. These tests play the worker themselves.
        session.add(Worker(executor_id="test", host="test", pid=0, device="cpu", seen_at=now() + timedelta(days=1)))
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def app(database: Engine) -> Iterator[App]:
    app = App(Path(str(database.url.database)).parent, free_port())
    app.start()
    yield app
    app.stop()


_numbers = count(1)


@pytest.fixture
def make_desk(app: App, database: Engine) -> Callable[..., Desk]:
    """A function that makes a project with one batch; texts that are not given are made up."""

    def make(
        n: int, reserve: int = 0, texts: Sequence[str] = (), right: Sequence[str] = (), name: str = "", **settings: Any
    ) -> Desk:
        name = name or f"Project {next(_numbers)}"
        with writing(database) as session:  # where the test is run once more
            session.execute(update(Project).where(Project.name == name).values(name=f"Before {next(_numbers)}"))
        texts = texts or [f"How do I do thing number {i}?" for i in range(30)]
        project_id = make_project(database, texts, right, name=name, **({"auto_train": False} | settings))
        if n:
            make_round(database, project_id, n, reserve)
        return Desk(database, project_id, f"{app.url}/?project={quote(name)}")

    return make


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip(f"{CHROMIUM} is missing: install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport=DESKTOP)  # type: ignore[arg-type]
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    errors: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Content Security" in message.text else None)
    yield page
    assert errors == []


def open_card(page: Page, url: str) -> None:
    """Nothing; the first pair is on the screen."""
    page.goto(url)
    expect(page.locator(".pair")).to_be_visible(timeout=30_000)


def settle(page: Page, saved: int) -> None:
    """Nothing; the server has acknowledged this many answers and owes none."""
    # While a restarted app draws the page anew, the old card is there for a moment beside the new one.
    expect(page.locator(".saved").last).to_have_text(f"saved {saved} · waiting 0", timeout=15_000)
