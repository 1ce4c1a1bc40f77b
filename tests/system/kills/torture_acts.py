"""What `torture` does to the labelling card while somebody presses keys: ten tests, and the keyboard."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from json import loads

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.helpers.browser import DESKTOP, WAIT, App, open_card

PACE = 0.1  # seconds from one press to the next
HOLD, REPEAT = 0.5, 0.03  # seconds for which a key is held, and between its repeats
ANSWER_KEYS = "123"
OFFLINE = 0.6  # share of the presses that are made offline: of 1,000 at ten a second, a minute
AWAY = 1.5  # seconds, at most, on another page
RUN = 20, 80  # presses until the server is killed, while it is there
DEAD = 3.0  # seconds, at most, until a killed server is started again
HOURS = 12  # by which the clock jumps, at most

# Counts each key by what the card did with it, and notes each answer that the card keeps. Both outlast the page.
WATCH = """(() => {
  if (!location.protocol.startsWith("http")) return
  const set = Storage.prototype.setItem
  const page = Math.random().toString(36) // two tabs must not count in one entry
  let answers = 0
  Storage.prototype.setItem = function (name, value) {
    set.call(this, name, value)
    if (!/^allpairs:\\d+:/.test(name)) return
    const { key, task_id, answer } = JSON.parse(value)
    answers += 1
    set.call(this, `watched:press:${key}`, JSON.stringify([task_id, answer]))
  }
  const cards = () => Array.from(document.querySelectorAll("*"), (node) => node.shadowRoot?.querySelector(".card"))
  const become = () => {
    if (answers) return "answered"
    const card = cards().find(Boolean)
    if (!card || card.hidden) return "no card"
    if (!card.querySelector(".pair").hidden) return "ignored"
    return /there was no pair/.test(card.querySelector(".empty").textContent) ? "told" : "not told"
  }
  addEventListener("keydown", () => { answers = 0 }, true)
  addEventListener("keydown", (event) => {
    if (event.repeat && !answers) return
    const name = `watched:keys:${event.repeat ? "repeated" : become()}:${page}`
    set.call(localStorage, name, Number(localStorage.getItem(name)) + 1)
  })
})()"""
CLOCK = """(() => {
  const Real = Date
  window.hours = 0
  const now = () => Real.now() + window.hours * 3_600_000
  window.Date = new Proxy(Real, {
    construct: (_, given) => (given.length ? new Real(...given) : new Real(now())),
    get: (_, name) => (name === "now" ? now : Real[name]),
  })
})()"""
WATCHED = "Object.fromEntries(Object.entries({ ...localStorage }).filter(([name]) => name.startsWith('watched:')))"


@dataclass
class Person:
    """One person at the card: their browsers, and when they press the next key."""

    app: App
    browser: Browser
    url: str
    rng: np.random.Generator
    contexts: list[BrowserContext] = field(default_factory=list)
    due: float = 0.0

    def device(self, *scripts: str) -> Page:
        """Open the card in a new browser."""
        context = self.browser.new_context(viewport=DESKTOP, reduced_motion="reduce")  # type: ignore[arg-type]
        for script in (WATCH, *scripts):
            context.add_init_script(script)
        self.contexts.append(context)
        return self.tab(context)

    def tab(self, context: BrowserContext) -> Page:
        """Open the card in another tab."""
        page = context.new_page()
        open_card(page, self.url)
        return page

    def press(self, page: Page, held: float = 0.0) -> None:
        """Press one of the answers' keys, a tenth of a second after the last press; or hold it so many seconds."""
        self.due = max(self.due, time.monotonic() - PACE)
        time.sleep(max(0.0, self.due - time.monotonic()))
        self.due += PACE
        key = str(self.rng.choice(list(ANSWER_KEYS)))
        end = time.monotonic() + held
        page.keyboard.down(key)
        while time.monotonic() < end:
            time.sleep(REPEAT)
            page.keyboard.down(key)  # without an up between: the browser sees a key that repeats
        page.keyboard.up(key)

    def some(self, least: int, most: int, presses: int) -> Iterator[int]:
        """Split the presses into runs of random length."""
        while presses > 0:
            run = min(presses, int(self.rng.integers(least, most + 1)))
            presses -= run
            yield run

    def wait(self, most: float) -> None:
        """Wait for a random time."""
        time.sleep(float(self.rng.uniform(0, most)))

    def watched(self) -> tuple[Counter[str], dict[str, tuple[int, str]]]:
        """Return how many keys became what, and the task and answer of each press that the card took, by its key."""
        keys: Counter[str] = Counter()
        pressed: dict[str, tuple[int, str]] = {}
        for context in self.contexts:
            for name, value in context.pages[0].evaluate(WATCHED).items():
                _, what, about, *_ = name.split(":")
                if what == "keys":
                    keys[about] += int(value)
                else:
                    task, answer = loads(value)
                    pressed[about] = task, answer
        return keys, pressed


Act = Callable[[Person, int], None]


def _held(person: Person, presses: int) -> None:
    page = person.device()
    for _ in range(presses):
        person.press(page, HOLD)


def _fast(person: Person, presses: int) -> None:
    page = person.device()
    for _ in range(presses):
        person.press(page)


def _offline(person: Person, presses: int) -> None:
    page = person.device()
    before, offline = round(presses * (1 - OFFLINE) / 2), round(presses * OFFLINE)
    for at in range(presses):
        if at in (before, before + offline):
            page.context.set_offline(at == before)
        person.press(page)


def _reloaded(person: Person, presses: int) -> None:
    page = person.device()
    for run in person.some(10, 50, presses):
        for _ in range(run):
            person.press(page)
        page.reload()
        _back_at_card(page)


def _tabs(person: Person, presses: int) -> None:
    one = person.device()
    _in_turn(person, [one, person.tab(one.context)], presses)


def _devices(person: Person, presses: int) -> None:
    _in_turn(person, [person.device(), person.device()], presses)


def _in_turn(person: Person, pages: list[Page], presses: int) -> None:
    for run in person.some(1, 5, presses):
        page = pages[int(person.rng.integers(len(pages)))]
        for _ in range(run):
            person.press(page)


def _killed(person: Person, presses: int) -> None:
    page, served = person.device(), 0
    starting = Future[None]()
    starting.set_result(None)
    run = int(person.rng.integers(*RUN))
    with ThreadPoolExecutor(1) as executor:
        for _ in range(presses):
            person.press(page)
            served += starting.done()
            if served == run:
                person.app.kill()
                starting = executor.submit(_start_later, person.app, float(person.rng.uniform(0, DEAD)))
                served, run = 0, int(person.rng.integers(*RUN))
        starting.result()


def _start_later(app: App, seconds: float) -> None:
    time.sleep(seconds)
    app.start()


def _left(person: Person, presses: int) -> None:
    page = person.device()
    for run in person.some(3, 15, presses):
        for _ in range(run):
            person.press(page)
        there = str(person.rng.choice(["Monitor", "My answers", "Projects"]))
        _choose(page, there)
        person.wait(AWAY)
        _choose(page, "Label")
        _back_at_card(page)


def _back(person: Person, presses: int) -> None:
    page = person.device()
    for run in person.some(3, 15, presses):
        if person.rng.integers(2):
            page.goto(person.url.replace("/label?", "/monitor?"))
            page.goto(person.url)
        else:
            _choose(page, "Monitor")
            _choose(page, "Label")
        _back_at_card(page)
        for _ in range(run):
            person.press(page)
        page.go_back(wait_until="commit")
        person.wait(AWAY)
        page.go_forward(wait_until="commit")
        _back_at_card(page)


def _clock(person: Person, presses: int) -> None:
    page = person.device(CLOCK)
    for run in person.some(5, 30, presses):
        page.evaluate("(hours) => { window.hours = hours }", int(person.rng.integers(-HOURS, HOURS + 1)))
        for _ in range(run):
            person.press(page)


def _choose(page: Page, name: str) -> None:
    """Click this page in the menu."""
    page.get_by_test_id("stSidebar").get_by_role("link", name=name, exact=True).click()


def _back_at_card(page: Page) -> None:
    expect(page.locator(".pair")).to_be_visible(timeout=WAIT)


ACTS: dict[str, tuple[str, Act]] = {
    "held": ("a key held half a second for each pair", _held),
    "fast": ("ten presses a second", _fast),
    "offline": ("offline in the middle", _offline),
    "reloaded": ("page reloaded now and then", _reloaded),
    "tabs": ("two tabs", _tabs),
    "devices": ("two devices", _devices),
    "killed": ("server killed now and then", _killed),
    "left": ("page left at once by the menu", _left),
    "back": ("back button", _back),
    "clock": ("clock set forth and back by hours", _clock),
}
