"""Count the labels that are pressed, stored, lost and doubled while the labelling card is maltreated in a browser.

    python -m tests.system.kills.torture [--presses 1000] [--tests held,fast,…] [--seed 0]

Needs requirements-dev.txt and Chromium. Each test has a project and an app of its own. A press counts once the card has
taken it as an answer, keys that fell on an empty card are counted apart. A press is lost if its answer is not stored as
it was given after one more visit to the page Label, and doubled if its pair had been answered before.
"""

import argparse
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from playwright.sync_api import Browser, Page, expect, sync_playwright

from benchmarks.browser import browser_path
from benchmarks.scale.app_process import free_port
from tests.helpers.browser import WAIT, App, Desk, open_card, workless_database
from tests.helpers.factories import make_project, make_round
from tests.system.kills.torture_acts import ACTS, Person

TEXTS, BATCH, SPARE = 90, 500, 700  # texts of a project, its batch, and pairs beyond the presses: none run out
SENT = """() => Object.keys(localStorage).every((name) => !/^allpairs:\\d+:/.test(name))"""
HEADINGS = ("test", "keys", "pressed", "empty card", "no answer", "stored", "lost", "doubled", "seconds")


@dataclass(frozen=True)
class Outcome:
    """What became of the keys of one test."""

    test: str
    keys: int
    pressed: int  # the card took them as answers
    told: int  # fell on an empty card, which said so
    unanswered: str  # other keys that answered nothing, by reason
    stored: int
    lost: int
    doubled: int
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether nothing was lost or doubled, and no key came to nothing without a word."""
        return not (self.lost or self.doubled or "not told" in self.unanswered)

    @property
    def row(self) -> str:
        """Return the row of the table."""
        *values, seconds = astuple(self)
        return (
            f"| {' | '.join(f'{value:,}' if isinstance(value, int) else value for value in values)} | {seconds:.0f} |"
        )


def torture(test: str, browser: Browser, folder: Path, presses: int, seed: int) -> Outcome:
    """Return the outcome of one test, in a new installation in this folder."""
    began, (title, act) = time.monotonic(), ACTS[test]
    engine = workless_database(folder)
    texts = [f"How do I do thing number {at}?" for at in range(TEXTS)]
    project = make_project(engine, texts, name="Torture", auto_train=False, fast_answers=0)
    make_round(engine, project, BATCH, presses + SPARE - BATCH)
    app = App(folder, free_port())
    app.start()
    try:
        person = Person(app, browser, f"{app.url}/label?project=Torture", np.random.default_rng(seed))
        act(person, presses)
        for context in person.contexts:
            for page in context.pages:
                visit(page, person.url)
        keys, pressed = person.watched()
        for context in person.contexts:
            context.close()
    finally:
        app.kill()
    outcome = counted(title, keys, pressed, Desk(engine, project, person.url), time.monotonic() - began)
    engine.dispose()
    return outcome


def visit(page: Page, url: str) -> None:
    """Open the card once more, and wait until it has sent what the browser kept."""
    open_card(page, url)
    page.wait_for_function(SENT, timeout=WAIT)
    expect(page.locator(".saved")).to_have_text("All saved", timeout=WAIT)


def counted(
    title: str, keys: Counter[str], pressed: Mapping[str, tuple[int, str]], desk: Desk, seconds: float
) -> Outcome:
    """Compare what the browsers watched with what is stored."""
    stored = {one.key: (one.task_id, one.answer) for one in desk.answers}
    tasks = {task for task, _ in [*pressed.values(), *stored.values()]}
    silent = {what: count for what, count in keys.items() if what not in ("answered", "told", "repeated")}
    return Outcome(
        title,
        keys=keys.total() - keys["repeated"],
        pressed=len(pressed),
        told=keys["told"],
        unanswered=", ".join(f"{count} {what}" for what, count in sorted(silent.items())) or "0",
        stored=sum(label is not None for label in desk.labels),
        lost=sum(stored.get(key) != at for key, at in pressed.items()),
        doubled=len({*pressed, *stored}) - len(tasks) + keys["repeated"],
        seconds=seconds,
    )


def main() -> int:
    """Run the tests that the command line names, print a table, and return 0 if nothing was lost or doubled, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--presses", type=int, default=1_000)
    parser.add_argument("--tests", type=lambda names: names.split(","), default=list(ACTS), help=", ".join(ACTS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if unknown := set(options.tests) - ACTS.keys():
        parser.error(f"--tests: there is no test {', '.join(sorted(unknown))}; choose from {', '.join(ACTS)}")
    print(f"| {' | '.join(HEADINGS)} |\n|{' --- |' * len(HEADINGS)}")
    clean = True
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        for test in options.tests:
            with TemporaryDirectory() as folder:
                outcome = torture(test, browser, Path(folder), options.presses, options.seed)
            print(outcome.row, flush=True)
            clean = clean and outcome.clean
        browser.close()
    return 0 if clean else 1


if __name__ == "__main__":
    raise SystemExit(main())
