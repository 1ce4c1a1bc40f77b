"""Fixtures shared by all tests: a temporary home, a migrated database, the real data where there is some."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from db.engine import make_engine, migrate
from tests.commands import Run

ROOT = Path(__file__).parent.parent
os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "localhost")  # in whatever folder a test runs: nobody must log in


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary `ALLPAIRS_HOME`, so that no test touches a person's projects."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
    return tmp_path / "home"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty, migrated SQLite file: copying it is much faster than migrating one for each test."""
    path = tmp_path_factory.mktemp("migrated") / "allpairs.db"
    migrate(f"sqlite:///{path}")
    return path


@pytest.fixture
def engine(home: Path, migrated: Path) -> Iterator[Engine]:
    """An engine on an empty, migrated SQLite file."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.copy(migrated, home / "allpairs.db")
    engine = make_engine()
    yield engine
    engine.dispose()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets; skips where it is absent."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}: set ALLPAIRS_DATA")
    return folder


@pytest.fixture
def learner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Runs the learner's command line in this process."""
    from learner.cli import main  # takes a second, which most tests need not wait for

    def run(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["learner", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        return Run(int(stopped.value.code or 0), printed.out, printed.err)

    return run
