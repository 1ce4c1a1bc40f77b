"""A small disk for faults."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from sqlalchemy import Engine

from allpairs.db.schema.engine import make_engine, migrate

SIZE = 4 * 2**20


@pytest.fixture
def disk() -> Iterator[Path]:
    """Yield a small disk; skip if none can be mounted."""
    with TemporaryDirectory() as folder:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True)
        if mounted.returncode:
            pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def on_disk(disk: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """Yield an engine on a migrated SQLite file on the small disk."""
    monkeypatch.setenv("ALLPAIRS_HOME", str(disk / "home"))
    monkeypatch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
    migrate()
    engine = make_engine()
    yield engine
    engine.dispose()
