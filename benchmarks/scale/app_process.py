"""The app as a separate process, for benchmarks that use it through a browser."""

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
    """Yield the port of an app on the folder `home`, which runs until the block ends."""
    app, port = start_app(home)
    try:
        yield port
    finally:
        app.terminate()
        app.wait()


def start_app(home: str | Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start the app, wait until it answers, and return its process and port."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "app.py"), "--server.headless=true"]
    environment = os.environ | {"ALLPAIRS_HOME": str(home)}
    options = [*command, f"--server.port={port}"]
    app = subprocess.Popen(options, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)  # stdout is for figures
    wait_for(f"http://localhost:{port}/healthz")
    return app, port


def wait_for(url: str, seconds: float = 60) -> None:
    """Wait until the address answers. Raises TimeoutError if it does not within so many seconds."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(f"{url} did not answer within {seconds:.0f} s")


def free_port() -> int:
    """Return an unused port."""
    with socket.socket() as candidate:
        candidate.bind(("localhost", 0))
        return int(candidate.getsockname()[1])
