"""App start to the first pair on screen, and the app's memory: with a fresh folder and with one in use.

python -m benchmarks.startup        (needs requirements-dev.txt and Chromium)
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from benchmarks.common import ROOT


def main() -> None:
    """Nothing; prints seconds from the start of the process to the first pair, and resident memory."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as home:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        first = first_pair(page, home)
        print(f"first start (demo project made, tables made): {first[0]:.1f} s")
        runs = [first_pair(page, home) for _ in range(5)]
        print(f"later starts, median of 5: {statistics.median(run[0] for run in runs):.1f} s")
        print(f"app process, resident: {max(run[1] for run in runs):.0f} MiB")


def first_pair(page: Page, home: str) -> tuple[float, float]:
    """Seconds from starting the app to its first pair, and MiB of resident memory of the app process."""
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    started = time.perf_counter()
    app = subprocess.Popen([*command, f"--server.port={port}"], cwd=ROOT, env={**os.environ, "ALLPAIRS_HOME": home})
    try:
        _wait_for(f"http://localhost:{port}/healthz")
        page.goto(f"http://localhost:{port}")
        page.get_by_role("button", name="Yes").first.wait_for()
        return time.perf_counter() - started, _resident(app.pid)
    finally:
        app.terminate()
        app.wait()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} did not answer within 60 s")


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
