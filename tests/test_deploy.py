"""What deploy/ starts, started without containers: its commands, variables and health checks are those that work."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.ports import free_port
from tests.postgres import missing, running_postgres

ROOT = Path(__file__).parent.parent
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
OURS = [name for name, service in SERVICES.items() if "ALLPAIRS_DATABASE_URL" in service.get("environment", {})]
PATIENCE = 90.0  # seconds until a service is content


def test_the_image_is_made_by_the_makefile() -> None:
    targets = re.findall(r"RUN make (\S+)", CONTAINERFILE)
    assert targets == [".venv/app"]
    assert re.search(r"^\.venv/app:.*\$\(REQUIREMENTS\)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for service in SERVICES.values():
        for name, value in service.get("build", {}).get("args", {}).items():
            assert f"ARG {name}" in CONTAINERFILE
            assert (ROOT / value).is_file()


def test_every_variable_is_one_that_we_read() -> None:
    reference = (ROOT / "docs" / "reference.md").read_text()
    for name in OURS:
        for variable in SERVICES[name]["environment"]:
            assert f"`{variable}`" in reference, f"{name}: {variable}"


def test_everything_has_an_image_and_all_of_ours_a_health_check() -> None:
    assert {"app", "worker", "gpu-worker", "ray-worker"} == set(OURS)
    built = {service["image"] for service in SERVICES.values() if "build" in service}
    assert {SERVICES[name]["image"] for name in OURS} <= built
    assert all("healthcheck" in SERVICES[name] for name in OURS)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.skipif(missing(), reason="PostgreSQL is missing: install the package postgresql")
def test_app_and_worker_start_as_the_file_says(tmp_path: Path) -> None:
    folder = tmp_path / "postgres"
    folder.mkdir()
    with running_postgres(folder) as url, ExitStack() as stack:
        port = str(free_port())
        given = {"ALLPAIRS_DATABASE_URL": url, "ALLPAIRS_HOME": str(tmp_path / "data")}
        add = ["python", "-m", "annotate", "people", "add", "Anna", "--administrator"]
        made = run(add, given, port, "a long password\n")
        assert made.returncode == 0, made.stderr
        for name in ("app", "worker"):
            environment = {**SERVICES[name]["environment"], **given}
            assert not content(name, environment, port)
            stack.enter_context(running(SERVICES[name]["command"], environment, port))
            wait_until_content(name, environment, port)


def here(command: list[str], port: str) -> list[str]:
    """The command with this Python, and with the app at this port."""
    words = [sys.executable if word == "python" else word.replace(":8501", f":{port}") for word in command]
    return [*words, "--port", port] if "serve" in words else words


def run(
    command: list[str], environment: dict[str, str], port: str, given: str = ""
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        here(command, port), env={**os.environ, **environment}, input=given, text=True, capture_output=True, cwd=ROOT,
        check=False,
    )  # fmt: skip


@contextmanager
def running(command: list[str], environment: dict[str, str], port: str) -> Iterator[None]:
    process = subprocess.Popen(here(command, port), env={**os.environ, **environment}, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def content(name: str, environment: dict[str, str], port: str) -> bool:
    """Whether the health check of the service is."""
    kind, *command = SERVICES[name]["healthcheck"]["test"]
    assert kind == "CMD"
    return run(command, environment, port).returncode == 0


def wait_until_content(name: str, environment: dict[str, str], port: str) -> None:
    end = time.monotonic() + PATIENCE
    while not content(name, environment, port):
        assert time.monotonic() < end, f"{name} is not well after {PATIENCE:g} s"
        time.sleep(0.5)
