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


def main() -> None:
    """Print seconds from the start of the process to the first pair, and resident memory."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page()
        first = first_pair(page, home)
        print(f"first start (demo project made, tables made): {first[0]:.1f} s")
        runs = [first_pair(page, home) for _ in range(5)]
        print(f"later starts, median of 5: {statistics.median(run[0] for run in runs):.1f} s")
        print(f"app process, resident: {max(run[1] for run in runs):.0f} MiB")


def first_pair(page: Page, home: str) -> tuple[float, float]:
    """Return the seconds from starting the app to its first pair, and the process's resident memory in MiB."""
    started = time.perf_counter()
    app, port = start_app(home)
    try:
        page.goto(f"http://localhost:{port}")
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
