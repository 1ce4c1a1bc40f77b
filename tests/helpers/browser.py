"""The app and a browser for tests: an app process, projects to label in it, and the card."""

import os
import socketserver
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import Engine, select

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.schema.engine import make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Answer, Task, Worker, now
from tests.helpers.machine import ROOT

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
WAIT = 30_000  # milliseconds for a page to appear
PAUSE = 400  # milliseconds; longer than a pair that took another's place ignores keys


@dataclass(frozen=True)
class Screen:
    """What a page is looked at on."""

    device: str
    scheme: str

    @property
    def name(self) -> str:
        return f"{self.device}-{self.scheme}"

    @property
    def is_phone(self) -> bool:
        return self.device == "phone"

    def apply(self, page: Page, height: int = 0) -> None:
        """Give the page this width and these colours."""
        size = PHONE if self.is_phone else DESKTOP
        page.emulate_media(color_scheme=self.scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": size["width"], "height": height or size["height"]})


QUIET = """() => {
  const ended = document.querySelector("[data-test-script-state=notRunning]")
  const isBusy = !ended || document.querySelector("[data-stale=true]")
  if (isBusy || !window.endedAt) window.endedAt = performance.now()
  return performance.now() - window.endedAt > 300
}"""
SCREENS = (Screen("desktop", "light"), Screen("phone", "dark"))
Picture = Callable[..., None]


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
        """Return the label of each task in the order of tasks."""
        with reading(self.engine) as session:
            found = {label.task_id: label.answer for label in current_labels(session, self.project_id)}
        return [found.get(task.id) for task in self.tasks]


MakeDesk = Callable[..., Desk]


@dataclass
class App:
    """The app in a process of its own.

    database: its address; default: a file in its home. proxy: the address through which it would reach others.
    """

    home: Path
    port: int
    demo: bool = False
    database: str = ""
    proxy: str = ""
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def start(self) -> None:
        environment = os.environ | {"ALLPAIRS_HOME": str(self.home), "ALLPAIRS_DEMO": str(int(self.demo))}
        environment["ALLPAIRS_DATABASE_URL"] = self.database
        if self.proxy:
            environment |= {"HTTP_PROXY": self.proxy, "HTTPS_PROXY": self.proxy, "NO_PROXY": ""}
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
        """Kill the app without letting it finish anything."""
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


def workless_database(home: Path) -> Engine:
    """Make a database in this folder whose app starts no worker, since one seems to be alive."""
    url = f"sqlite:///{home / 'allpairs.db'}"
    migrate(url)
    engine = make_engine(url)
    with writing(engine) as session:
        alive = now() + timedelta(days=1)
        session.add(Worker(executor_id="test", host="test", pid=0, device="cpu", seen_at=alive))
    return engine


def open_card(page: Page, url: str) -> None:
    """Open the card and wait for its first pair."""
    page.goto(url)
    expect(page.locator(".pair")).to_be_visible(timeout=30_000)


def press(page: Page, key: str) -> None:
    """Press the key for the pair on the screen, as fast as a quick person can."""
    expect(page.locator(".pair")).to_be_visible()
    page.keyboard.press(key, delay=30)


def drawn(page: Page) -> None:
    """Wait until the script of the page has ended, and has not started again for longer than Streamlit delays input."""
    page.evaluate("window.endedAt = 0")
    page.wait_for_function(QUIET, timeout=WAIT, polling=50)


def settle(page: Page, saved: int) -> None:
    """Wait until the server has acknowledged this many answers and owes none."""
    # While a restarted app draws the page anew, the old card is there for a moment beside the new one.
    expect(page.locator(".saved").last).to_have_attribute("data-count", str(saved), timeout=WAIT)
    expect(page.locator(".saved").last).to_have_text("All saved", timeout=WAIT)


def shown(page: Page) -> tuple[str, str]:
    """Return the two texts of the card."""
    left, right = (page.locator(f"[data-side={side}]").text_content() or "" for side in ("left", "right"))
    return left, right


class Outside:
    """The way out of a process that should not call anybody."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        asked = self.asked

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                asked.append(self.rfile.readline().decode("latin-1").strip())

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> "Outside":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
