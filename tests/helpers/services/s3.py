"""An S3 server on this machine: rclone over a temporary folder."""

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.services.ports import free_port

KEY, SECRET, BUCKET = "key", "secret", "bucket"


def program() -> str | None:
    """Return the path of rclone, which its package installs beside Python, or None if it is missing."""
    return shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")


@contextmanager
def running_s3(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment in which `s3://bucket` is a new bucket of a server that runs until the block ends."""
    (folder / BUCKET).mkdir()
    port = free_port()
    command = [str(program()), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}", folder]
    with subprocess.Popen(command, env={"RCLONE_CONFIG": "/dev/null", "HOME": str(folder)}, stderr=-3) as server:
        try:
            _wait_for(port)
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
            }
        finally:
            server.kill()


def _wait_for(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("rclone does not answer")
