"""The app as a process of its own, for benchmarks that use it through a browser."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.common import ROOT


@contextmanager
def running_app(home: str | Path) -> Iterator[int]:
    """The port of the app, which works on the folder `home` until the block ends."""
    app, port = start_app(home)
    try:
        yield port
    finally:
        app.terminate()
        app.wait()


def start_app(home: str | Path) -> tuple[subprocess.Popen[bytes], int]:
    """The app's process, which answers, and its port."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    environment = os.environ | {"ALLPAIRS_HOME": str(home)}
    options = [*command, f"--server.port={port}"]
    app = subprocess.Popen(options, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)  # ours has the figures
    wait_for(f"http://localhost:{port}/healthz")
    return app, port


def wait_for(url: str) -> None:
    """Nothing; the address answers. Raises TimeoutError after a minute."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} did not answer within 60 s")


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as candidate:
        candidate.bind(("localhost", 0))
        return int(candidate.getsockname()[1])
