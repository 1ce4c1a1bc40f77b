"""Measure the time from key to next pair: the labelling card and Streamlit's own buttons, near and far from the server.

python -m benchmarks.speed.latency [--presses 200]        (needs requirements-dev.txt and Chromium)

The far server is the same one behind a relay that delays every byte by half the round trip, each way. Times are
taken in the browser, from the event to the frame after the next pair is in the page.
"""

import argparse
import asyncio
import statistics
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, TimeoutError, sync_playwright
from sqlalchemy import Engine, func, select

from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Answer
from benchmarks.browser import browser_path
from benchmarks.scale.app_process import free_port, running_app
from benchmarks.table import Row
from tests.helpers.browser import workless_database
from tests.helpers.factories import make_project, make_round

ROUND_TRIPS = (0, 100)  # ms
PATIENCE = 10_000  # ms: an answer that brings no next pair by then is lost
# ms to the next pair: targets
MEDIAN = 30
P95 = 80
TEXTS = [f"How do I do thing number {i}, and what does it cost?" for i in range(60)]
WATCH = """
([inCard, selector, patience]) => {
  let host = null // of the card's shadow root; Streamlit may draw it anew
  const isHost = (node) => node.isConnected && node.shadowRoot?.querySelector(".card")
  const root = () => {
    if (!inCard) return document
    if (!host || !isHost(host)) host = Array.from(document.querySelectorAll("*")).find(isHost)
    return host?.shadowRoot
  }
  const text = () => Array.from(root()?.querySelectorAll(selector) ?? [], (node) => node.textContent).join("|")
  window.times = []
  window.timed = (event) => {
    if (event.type === "click" && !event.target.closest(".st-key-without_keyboard button")) return
    const before = text(), start = performance.now()
    const look = () => {
      const now = text()
      if (now && now !== before) requestAnimationFrame(() => window.times.push(performance.now() - start))
      else if (performance.now() - start < patience) setTimeout(look, 1)
    }
    look()
  }
}
"""


class Relay:
    """A server that passes bytes to another port, each `delay` seconds late in both directions."""

    def __init__(self, target: int, delay: float) -> None:
        self.target = target
        self.delay = delay
        self.port = free_port()
        self.loop = asyncio.new_event_loop()
        self.ready = threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        self.ready.wait()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        server = self.loop.run_until_complete(asyncio.start_server(self._connect, "localhost", self.port))
        self.ready.set()
        self.loop.run_until_complete(server.serve_forever())

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("localhost", self.target)
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        late = asyncio.ensure_future(self._write(waiting, writer))
        while data := await reader.read(1 << 16):
            waiting.put_nowait((self.loop.time() + self.delay, data))
        waiting.put_nowait((self.loop.time() + self.delay, b""))
        await late

    async def _write(self, waiting: "asyncio.Queue[tuple[float, bytes]]", writer: asyncio.StreamWriter) -> None:
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(max(0.0, due - self.loop.time()))
            if not data:
                writer.close()
                return
            writer.write(data)


@dataclass(frozen=True)
class Measured:
    """One way of labelling at one round trip: milliseconds to the next pair, answers stored, and answers given."""

    way: str
    round_trip: int
    median: float
    p95: float
    stored: int
    given: int


def measure(quick: bool) -> list[Row]:
    """Return the rows of the table: the card beside Streamlit's own buttons at each round trip."""
    measured = compared(40 if quick else 200)
    return [_row(card, button) for card, button in zip(measured[::2], measured[1::2], strict=True)]


def _row(card: Measured, button: Measured) -> Row:
    return Row(
        what=f"key to next pair, {card.round_trip} ms round trip",
        peer=f"Streamlit's button: median {button.median:.0f} ms, p95 {button.p95:.0f} ms; {button.stored} of "
        f"{button.given} stored",
        ours=f"median {card.median:.0f} ms, p95 {card.p95:.0f} ms; {card.stored} of {card.given} labels stored",
        ratio=button.median / card.median,
        target=f"median ≤ {MEDIAN} ms, p95 ≤ {P95} ms, none lost",
        met=card.median <= MEDIAN and card.p95 <= P95 and card.stored == card.given,
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--presses", type=int, default=200, help="pairs to label with the card at each round trip")
    options = parser.parse_args()
    print(f"{date.today()}\n{'':20s} round trip   median      p95   labels stored of given")
    for one in compared(options.presses):
        times = f"{one.round_trip:7d} ms {one.median:5.0f} ms {one.p95:5.0f} ms"
        print(f"{one.way:20s} {times}   {one.stored} of {one.given}")


def compared(presses: int) -> list[Measured]:
    """Measure the card, then the buttons with a quarter of the presses, at each round trip."""
    rows = []
    with TemporaryDirectory() as home, sync_playwright() as playwright:
        engine = workless_database(Path(home))
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        with running_app(home) as port:
            for round_trip in ROUND_TRIPS:
                relay = Relay(port, round_trip / 2000)
                for title, use, count in (
                    ("card, key", press_keys, presses),
                    ("Streamlit's button", click, presses // 4),
                ):
                    page = browser.new_page()
                    project = make_project(engine, TEXTS, name=f"{title} {round_trip}", auto_train=False)
                    make_round(engine, project, count + 20)
                    page.goto(f"http://localhost:{relay.port}/label?project={title} {round_trip}")
                    page.locator(".pair").wait_for(timeout=60_000)
                    times = use(page, count)
                    rows.append(Measured(title, round_trip, *summary(times), stored(engine, project), count))
                    page.close()
        browser.close()
    return rows


def press_keys(page: Page, count: int) -> list[float]:
    """Return the milliseconds from each key to the next pair."""
    page.evaluate(WATCH, [True, ".text", PATIENCE])
    page.evaluate("addEventListener('keydown', window.timed, true)")
    return _timed(page, count, lambda: page.keyboard.press("2"))


def click(page: Page, count: int) -> list[float]:
    """Return the milliseconds from each click on the button without JavaScript to the next pair."""
    page.get_by_text("Basic buttons").click()
    page.evaluate(WATCH, [False, ".st-key-without_keyboard [data-testid=stText]", PATIENCE])
    page.evaluate("addEventListener('click', window.timed, true)")
    button = page.locator(".st-key-without_keyboard button", has_text="No").last
    drawn = page.locator("[data-test-script-state=notRunning]")

    def press() -> None:
        drawn.wait_for()  # until the whole page is redrawn, a click would hit the previous pair's button
        button.click()

    return _timed(page, count, press)


def _timed(page: Page, count: int, act: Callable[[], None]) -> list[float]:
    for _ in range(count):
        before = page.evaluate("window.times.length")
        act()
        with suppress(TimeoutError):  # lost, like a click on a button that is about to be redrawn
            page.wait_for_function("(n) => window.times.length > n", arg=before, timeout=PATIENCE)
        page.wait_for_timeout(100)
    page.wait_for_timeout(3_000)  # let the last answers be stored
    return [float(each) for each in page.evaluate("window.times")]


def summary(times: list[float]) -> tuple[float, float]:
    """Return median and 95th percentile."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def stored(engine: Engine, project_id: int) -> int:
    """Return the number of the project's answers."""
    with reading(engine) as session:
        return session.scalar(select(func.count(Answer.id)).where(Answer.project_id == project_id)) or 0


if __name__ == "__main__":
    main()
