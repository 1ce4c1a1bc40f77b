"""What deploy/ starts, started without containers: its commands, variables and health checks work."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import yaml
from sqlalchemy import Engine
from starlette.testclient import TestClient
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import Job
from allpairs.learner.models.encoder import LEAST
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT, Require, free_port
from tests.helpers.people import PASSWORD, Clock, make_person
from tests.helpers.services.servers import is_postgres_missing, running_postgres
from tests.helpers.tiny import tiny_encoder
from tests.helpers.web import FakeSessions, opener

COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
CONTAINERFILE = (ROOT / "deploy" / "Containerfile").read_text()
OURS = [name for name, service in SERVICES.items() if "ALLPAIRS_DATABASE_URL" in service.get("environment", {})]
PATIENCE = 90.0  # seconds until a service is content, or a job is done


def test_the_image_is_made_by_the_makefile() -> None:
    targets = re.findall(r"RUN make (\S+)", CONTAINERFILE)
    assert targets == [".venv/app", ".venv/bin/allpairs"]
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


def substituted(value: str) -> str:
    """Return the value as the engine reads it where nothing is set."""
    while (found := re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", value)) != value:
        value = found
    return value


def test_behind_the_proxy_browsers_count_apart_and_are_secure(engine: Engine) -> None:
    network = COMPOSE["networks"]["default"]["ipam"]["config"][0]
    gateway, trusted = (
        substituted(each) for each in (network["gateway"], SERVICES["app"]["environment"]["FORWARDED_ALLOW_IPS"])
    )
    assert ip_address(gateway) in ip_network(substituted(network["subnet"])) and trusted == gateway
    make_person(engine, "Anna")
    app = ProxyHeadersMiddleware(opener(engine, Clock(), FakeSessions())().app, trusted)

    def sign_in(browser: str, name: str, password: str, peer: str = gateway) -> Any:
        site = TestClient(app, "http://pairs.example.org", client=(peer, 40_000), follow_redirects=False)
        headers = {"X-Forwarded-For": browser, "X-Forwarded-Proto": "https", "Origin": "https://pairs.example.org"}
        return site.post("/login", data={"name": name, "password": password}, headers=headers)

    tried = [sign_in("203.0.113.9", f"name {number}", "wrong").status_code for number in range(21)]
    assert tried == [401] * 20 + [429]
    found = sign_in("198.51.100.7", "Anna", PASSWORD)
    assert found.status_code == 303 and "strict-transport-security" in found.headers
    assert found.headers["set-cookie"].startswith("__Host-allpairs=") and "Secure" in found.headers["set-cookie"]
    other = sign_in("198.51.100.8", "Anna", PASSWORD, peer="172.31.250.7")  # another container's word does not count
    assert "__Host-" not in other.headers["set-cookie"] and "strict-transport-security" not in other.headers


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, require: Require) -> Iterator["Machine"]:
    """Yield a machine that can run the services, with a database and an administrator."""
    require(not is_postgres_missing(), "PostgreSQL is missing: install the package postgresql")
    with (
        TemporaryDirectory() as folder,
        running_postgres(Path(folder)) as url,
        TemporaryDirectory(prefix="ray") as short,
    ):
        given = {"ALLPAIRS_DATABASE_URL": url, "ALLPAIRS_HOME": str(tmp_path / "data")}
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        found = Machine({**given, "RAY_TMPDIR": short, "RAY_AUTH_MODE": "disabled"}, str(free_port()))
        add = ["python", "-m", "allpairs", "people", "add", "Anna", "--administrator"]
        made = found.run(add, found.environment, "a long password\n")
        assert made.returncode == 0, made.stderr
        yield found
        end_all_of(short)


@pytest.mark.slow
@pytest.mark.postgres
def test_app_and_worker_start_as_the_file_says(machine: "Machine") -> None:
    with machine.running("app"), machine.running("worker"):
        pass


@pytest.mark.slow
@pytest.mark.postgres
def test_a_worker_computes_on_the_cluster_as_the_file_says(machine: "Machine", tmp_path: Path) -> None:
    with machine.running("ray-head"), machine.running("ray-node"), machine.running("ray-worker"):
        engine = make_engine(machine.environment["ALLPAIRS_DATABASE_URL"])
        texts = [f"text number {n}" for n in range(LEAST + 1)]  # more than pays to encode in one part
        encoder = tiny_encoder(tmp_path / "encoder", texts)
        project_id = make_project(engine, texts, encoder=str(encoder), neighbours=5, batch_size=4, first=4)
        job_id = request_round(engine, project_id)
        end, state = time.monotonic() + PATIENCE, ""
        while state != "done":
            assert time.monotonic() < end and state not in ("failed", "cancelled"), f"the job is {state or 'waiting'}"
            time.sleep(0.5)
            with reading(engine) as session:
                state = session.get_one(Job, job_id).state
        engine.dispose()
    parts = Path(machine.environment["RAY_TMPDIR"]).glob("ray/session_*/logs/worker-*-01000000-*.out")
    assert list(parts), "no process of the cluster did anything for the worker"


@dataclass(frozen=True)
class Machine:
    """Services without containers: their common environment, and the port in place of the file's."""

    environment: dict[str, str]
    port: str

    @contextmanager
    def running(self, name: str) -> Iterator[None]:
        """Run the service as the file says, restarting it if it ends, and yield once its health check succeeds."""
        environment = {**SERVICES[name].get("environment", {}), **self.environment}
        check = SERVICES[name]["healthcheck"]
        assert SERVICES[name]["restart"] == "unless-stopped"
        assert "test" not in check or not self._content(check, environment)
        process = self._started(name, environment)
        try:
            end = time.monotonic() + PATIENCE
            while "test" in check and not self._content(check, environment):
                assert time.monotonic() < end, f"{name} is not well after {PATIENCE:g} s"
                if process.poll() is not None:  # nodes that start at once on one machine may choose the same ports
                    process = self._started(name, environment)
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            process.wait(30)

    def _started(self, name: str, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self._here(SERVICES[name]["command"]), env=self._environment(environment), cwd=ROOT)

    def run(
        self, command: list[str], environment: dict[str, str], given: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run the command to its end and return its result."""
        return subprocess.run(
            self._here(command), env=self._environment(environment), input=given, text=True, capture_output=True,
            cwd=ROOT, check=False,
        )  # fmt: skip

    def _content(self, check: dict[str, Any], environment: dict[str, str]) -> bool:
        kind, *command = check["test"]
        assert kind == "CMD"
        return self.run(command, environment).returncode == 0

    def _here(self, command: list[str]) -> list[str]:
        words = [self._moved(word) for word in command]
        return [*words, "--port", self.port] if "serve" in words else words

    def _environment(self, environment: dict[str, str]) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # as in the image
        moved = {name: self._moved(substituted(value)) for name, value in environment.items()}
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), **moved}

    def _moved(self, word: str) -> str:
        return word.replace(":8501", f":{self.port}").replace("ray-head", "localhost").replace("6379", self.port)


def end_all_of(folder: str) -> None:
    """End all processes of the cluster with files in the folder: a joined node would otherwise keep running."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(str(file.readlink()).startswith(folder) for file in (entry / "fd").iterdir()):
                os.kill(int(entry.name), signal.SIGKILL)
