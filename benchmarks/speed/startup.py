"""Measure the time from app start to the first pair on screen, and memory, with a fresh folder and with one in use.

python -m benchmarks.speed.startup        (needs requirements-dev.txt and Chromium)
"""

import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.browser import browser_path
from benchmarks.scale.app_process import start_app
from benchmarks.table import Row

LONGEST = 3.0  # seconds: target


def measured(starts: int) -> tuple[float, float, float]:
    """Return seconds from the start of the process to the first pair, at first and later, and resident memory, MiB."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page()
        first, _ = first_pair(page, home)
        runs = [first_pair(page, home) for _ in range(starts)]
        return first, statistics.median(run[0] for run in runs), max(run[1] for run in runs)


def measure(quick: bool) -> list[Row]:
    """Return the start of the app beside its target."""
    first, later, memory = measured(1 if quick else 5)
    return [
        Row(
            what="start of the app until the first pair is on the screen",
            ours=f"{later:.1f} s, {memory:.0f} MiB; the first start, which makes the demo: {first:.1f} s",
            target=f"≤ {LONGEST:g} s",
            met=later <= LONGEST,
        )
    ]


def main() -> None:
    """Print seconds and memory."""
    (row,) = measure(quick=False)
    print(f"{row.what}: {row.ours}")


def first_pair(page: Page, home: str) -> tuple[float, float]:
    """Return the seconds from starting the app to its first pair, and the process's resident memory in MiB."""
    started = time.perf_counter()
    app, port = start_app(home)
    try:
        page.goto(f"http://localhost:{port}/label")
        page.get_by_role("button", name="Yes").first.wait_for()
        return time.perf_counter() - started, _resident(app.pid)
    finally:
        app.terminate()
        app.wait()


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
