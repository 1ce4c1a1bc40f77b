"""Fixtures shared by all tests: a temporary home, a migrated database, and the real data if available."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import hypothesis
import pytest
from sqlalchemy import Engine

from annotate.access import passwords
from db.schema.engine import database_url, make_engine, migrate
from tests.helpers.paths import ROOT
from tests.helpers.people import CHEAP
from tests.helpers.services.commands import Run
from tests.helpers.services.postgres import drop_database, missing, new_database, running_postgres
from tests.helpers.services.s3 import program, running_s3

os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "localhost")  # in whatever folder a test runs: nobody must log in

hypothesis.settings.register_profile("unhurried", deadline=None)  # how busy the machine is, is not what is tested
hypothesis.settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=("sqlite", "postgresql"), default="sqlite", help="what the tests run on")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL, keep only tests that store something: the others are the same as on SQLite."""
    if config.getoption("--database") != "sqlite":
        stores = [item for item in items if "home" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in stores])
        items[:] = stores


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Make password hashing fast in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", CHEAP)
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Yield the address of a database of a PostgreSQL server, started once; skip if none is installed."""
    if missing():
        pytest.skip("PostgreSQL is missing: install the package postgresql")
    # Not below pytest's own folder: each run of pytest that starts shuts that to other users, and the server is one.
    with (
        TemporaryDirectory() as folder,
        running_postgres(Path(folder), "-c fsync=off", "-c max_connections=300") as url,
    ):
        yield url


@pytest.fixture(scope="session")
def template(server: str) -> str:
    """Return a database with empty, migrated tables: copying it is much faster than migrating one per test."""
    url = new_database(server, "migrated")
    migrate(url)
    return url


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Yield a temporary `ALLPAIRS_HOME`, so that no test touches a person's projects.

    Its data are stored in the database chosen by the option `--database`.
    """
    monkeypatch.setenv("ALLPAIRS_HOME", str(tmp_path / "home"))
    for name in ("ALLPAIRS_DATABASE_URL", "ALLPAIRS_ARTIFACTS"):
        monkeypatch.delenv(name, raising=False)
    if request.config.getoption("--database") == "sqlite":
        yield tmp_path / "home"
        return
    server = request.getfixturevalue("server")
    like = request.getfixturevalue("template") if "engine" in request.fixturenames else None
    name = f"test_{uuid4().hex}"  # pages keep figures by the database's address: each test has its own
    url = new_database(server, name, like)
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", url)
    yield tmp_path / "home"
    drop_database(server, name)


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an empty, migrated SQLite file, to be copied likewise."""
    path = tmp_path_factory.mktemp("migrated") / "allpairs.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def engine(home: Path, migrated: Path) -> Iterator[Engine]:
    """Yield an engine on an empty, migrated database."""
    home.mkdir(parents=True, exist_ok=True)
    if database_url().startswith("sqlite"):
        shutil.copy(migrated, home / "allpairs.db")
    engine = make_engine()
    yield engine
    engine.dispose()


@pytest.fixture
def elsewhere(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Engine]]:
    """Yield a function that moves to another, empty installation of this name."""
    engines: list[Engine] = []

    def move(name: str) -> Engine:
        monkeypatch.setenv("ALLPAIRS_HOME", str(tmp_path / name))
        if not database_url().startswith("sqlite"):
            monkeypatch.setenv("ALLPAIRS_DATABASE_URL", new_database(database_url(), name))
        migrate()
        engines.append(make_engine())
        return engines[-1]

    yield move
    for engine in engines:
        engine.dispose()


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Yield the environment in which `s3://bucket` is a bucket of a local server; skip if there is none."""
    if program() is None:
        pytest.skip("rclone is missing: install requirements-dev.txt")
    with running_s3(tmp_path_factory.mktemp("s3")) as environment:
        yield environment


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real data sets; skip if it is missing."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set ALLPAIRS_DATA")
    return folder


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Return a function that runs the learner's command line in this process."""
    from learner.cli import main  # takes a second, which most tests need not wait for

    def run(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["learner", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return Run(int(stopped.value.code or 0), printed.out, printed.err)

    return run
