"""Only the user that runs Allpairs can read what it stores, whatever the umask; what was open before is closed."""

import asyncio
import io
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.annotate.cli import serve
from allpairs.annotate.kit.uploads import keep_upload
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held, publish_files
from allpairs.db.files.json_file import write_json
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.schema.engine import artifacts, make_engine, migrate, writing
from allpairs.db.schema.tables import Person, now
from allpairs.learner import worker
from tests.helpers.files.databases import add_revision
from tests.helpers.services.commands import annotate

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


@pytest.fixture(autouse=True)
def _open_umask(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let other users read and write all that is not closed to them; the app starts no worker."""
    before = os.umask(0)
    for module in (serve, worker):
        monkeypatch.setattr(module, "configure", lambda: None)  # the log is the tests' own
    monkeypatch.setenv("ALLPAIRS_WORKER", "0")
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def reachable(*places: Path) -> list[str]:
    """Return what other users have any access to, at and below the places."""
    paths = [path for place in places for path in (place, *place.rglob("*"))]
    assert paths and all(place.exists() for place in places)
    return [str(path) for path in paths if mode(path) != (0o700 if path.is_dir() else 0o600)]


def start_app(home: Path) -> list[str]:
    """Start the app without a worker, write a file as its jobs and pages do, and return what others can reach."""

    async def live() -> list[str]:
        async with serve.lifespan(lambda: False)(None):
            write_json(artifacts() / "project-1" / "next" / "about.json", {})
            return reachable(home)

    return asyncio.run(live())


def make_old_home(home: Path) -> list[Path]:
    """Make a home folder as earlier versions did, and return all that lies in it."""
    for name in ("artifacts/project-1/next/model/config.json", "backups/before.db", "cached/project-1/a.lock"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("")
    migrate()
    paths = [home, *home.rglob("*")]
    for path in paths:
        path.chmod(0o777 if path.is_dir() else 0o644)
    return paths


def test_what_the_app_writes_is_closed(home: Path) -> None:
    assert start_app(home) == []
    assert {"allpairs.db", "jobs.db", "artifacts"} <= {path.name for path in home.iterdir()}
    assert os.umask(0) == 0  # for the rest of the process, as it was


def test_a_start_closes_what_was_open_and_says_so_once(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    old = make_old_home(home)
    assert start_app(home) == []
    told = [line for line in caplog.messages if "to other users" in line]
    assert len(told) == 1 and f"closed {len(old)} files and folders" in told[0]
    caplog.clear()
    assert start_app(home) == [] and "to other users" not in caplog.text


def test_what_a_worker_writes_is_closed(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def stop(engine: Engine, me: worker.Me) -> None:
        write_json(artifacts() / "project-1" / "next" / "about.json", {})
        raise InputError("another worker has this name")

    monkeypatch.setattr(worker, "take_worker_name", stop)
    make_old_home(home)
    with pytest.raises(InputError):
        worker.run_worker()
    assert reachable(home) == [] and "to other users" in caplog.text


def test_commands_close_stored_files_and_exports_keep_the_umask(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.csv").write_text("id,text\n1,one\n2,two\n3,three\n", encoding="utf-8")
    assert annotate("project", "create", "Q", "--left", "q.csv") == 0
    write_json(artifacts() / "project-1" / "next" / "about.json", {})
    assert annotate("db", "upgrade") == 0  # closes that file, which no command wrote
    assert reachable(home) == []
    assert annotate("project", "export", "Q", "--out", "q.zip") == 0
    assert annotate("project", "import", "q.zip") == 0
    assert annotate("labels", "export", "Q", "--out", "labels.csv") == 0
    os.umask(0o022)
    (artifacts() / "project-1" / "next" / "about.json").chmod(0o644)
    assert annotate("db", "backup", "--out", "monday") == 0
    assert reachable(tmp_path / "monday") == []
    shutil.copytree("monday", "copied", copy_function=shutil.copyfile)
    Path("copied/artifacts").chmod(0o755)
    assert annotate("db", "restore", "copied", "--replace") == 0
    assert reachable(artifacts(), home / "allpairs.db") == []
    assert mode(Path("q.zip")) == mode(Path("labels.csv")) == 0o666


def test_a_back_up_before_an_upgrade_is_closed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    migrate()
    add_revision(tmp_path, monkeypatch)
    made = upgrade()
    assert made is not None and reachable(home) == []


def test_a_database_elsewhere_and_its_log_are_closed(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "elsewhere" / "pairs.db"
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", f"sqlite:///{file}")
    migrate()
    engine = make_engine()
    with writing(engine) as session:
        session.add(Person(name="Ada", folded="ada", created_at=now(), changed_at=now()))
    assert {path.name for path in file.parent.iterdir()} == {"pairs.db", "pairs.db-wal", "pairs.db-shm"}
    assert reachable(file.parent) == []
    file.chmod(0o644)
    assert len(close_home()) == 1 and mode(file) == 0o600
    engine.dispose()


def test_an_upload_is_closed(tmp_path: Path) -> None:
    kept = keep_upload(io.BytesIO(b"id,text\n"), "texts.csv", tmp_path / "uploads")
    assert kept.read_bytes() == b"id,text\n" and reachable(tmp_path / "uploads") == []


def test_copies_of_a_store_are_closed(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", f"file://{tmp_path}/store")
    path = artifacts() / "project-1" / "next" / "model"
    path.mkdir(parents=True)
    (path / "config.json").write_text("{}")
    publish_files(path)
    shutil.rmtree(home)
    with held(path):
        assert (path / "config.json").is_file()
    assert reachable(home / "artifacts", home / "cached") == []


def test_outside_artifacts_are_closed_and_other_files_keep_modes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", str(tmp_path / "models"))
    make_old_home(home)
    (home / "artifacts").rename(tmp_path / "models")
    (home / "script.sh").write_text("")
    (home / "script.sh").chmod(0o755)
    (tmp_path / "models" / "link").symlink_to(home / "script.sh")
    close_home()
    (tmp_path / "models" / "link").unlink()
    assert reachable(tmp_path / "models") == [] and mode(home) == 0o700
    assert mode(home / "script.sh") == 0o755


@pytest.mark.parametrize("refused", [PermissionError(1, "Operation not permitted"), None])
def test_a_home_that_belongs_to_somebody_else_is_told_of(
    home: Path, monkeypatch: pytest.MonkeyPatch, refused: OSError | None
) -> None:
    def chmod(path: Path, mode: int) -> None:
        if refused:  # else as on a disk without modes
            raise refused

    old = make_old_home(home)
    monkeypatch.setattr(Path, "chmod", chmod)
    (line,) = close_home()
    assert f"{len(old)} files" in line and str(home) in line and "chmod -R go=" in line
