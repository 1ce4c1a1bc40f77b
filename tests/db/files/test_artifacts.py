"""Artifacts in a folder, in memory and on S3: the same operations, one cache, no partial files, garbage collection."""

import json
import os
import shutil
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from signal import SIGKILL
from uuid import uuid4

import pytest
from sqlalchemy import Engine

from allpairs.annotate.cli.commands import app
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import children, discard, held, is_there, publish_files, publishing, size_of, store
from allpairs.db.files.home import name_of
from allpairs.db.files.object_store import Store
from allpairs.db.maintenance.garbage import garbage
from allpairs.db.maintenance.integrity import problems
from allpairs.db.schema.engine import artifacts, writing
from allpairs.db.schema.tables import StoredModel
from allpairs.program import run
from tests.helpers.factories import make_project
from tests.helpers.machine import flip_bit

MODEL = "project-1/next/model"
FILES = {"matcher.json": b"{}", "model.safetensors": bytes(range(256)) * 40, "1_Pooling/config.json": b"{ }"}


@pytest.fixture(params=["folder", "memory", "s3"])
def place(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return where artifacts are stored; each test has its own place."""
    if request.param == "s3":
        for name, value in request.getfixturevalue("s3").items():
            monkeypatch.setenv(name, value)
    if request.param != "folder":
        address = f"{request.param}://bucket/{uuid4().hex}"
        monkeypatch.setenv("ALLPAIRS_ARTIFACTS", address)
    return str(request.param)


in_store = pytest.mark.parametrize("place", ["memory", "s3"], indirect=True)
on_s3 = pytest.mark.parametrize("place", ["s3"], indirect=True)
in_memory = pytest.mark.parametrize("place", ["memory"], indirect=True)


def write(name: str = MODEL) -> Path:
    """Write the files of a model to the folder and return it."""
    folder = artifacts() / name
    for file, content in FILES.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_bytes(content)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def other_machine(monkeypatch: pytest.MonkeyPatch, path: Path, name: str = "other") -> Path:
    """Return the same path on another machine without copies; with folder storage, on this one."""
    if store() is None:
        return path
    place = path.relative_to(artifacts())
    monkeypatch.setenv("ALLPAIRS_HOME", str(Path(os.environ["ALLPAIRS_HOME"]).with_name(name)))
    return artifacts() / place


def test_what_is_published_is_there_for_all(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = write()
    assert is_there(here) == (place == "folder")
    publish_files(here)
    there = other_machine(monkeypatch, here)
    assert is_there(there) and is_there(there / "1_Pooling") and not is_there(there / "nothing")
    assert children(there.parent.parent) == {"next"} and children(artifacts() / "project-2") == set()
    assert size_of(there.parent) == sum(map(len, FILES.values()))
    with held(there / "matcher.json") as file:
        assert file.read_bytes() == b"{}"
    with held(there) as folder:
        assert contents(folder) == FILES
    (there / "matcher.json").write_text('{"w": 1}')
    publish_files(there / "matcher.json")
    with held(artifacts()):
        assert contents(there) == FILES | {"matcher.json": b'{"w": 1}'}
    discard(there.parent)
    assert not is_there(there) and not there.exists()
    with held(here) as gone:
        assert place != "folder" or not gone.exists()


@pytest.mark.parametrize(("path", "name"), [
    ("project-3/job/model/1_Pooling/config.json", "project-3/job/model"), ("project-3/job", None),
    ("project-3/matches/about.json", "project-3/matches"), ("project-3/explore/searches", None),
    ("project-3/explore/searches/a.json", "project-3/explore/searches/a.json"),
    ("project-3/explore/1-2026/pairs.npz", "project-3/explore/1-2026"), ("project-3/previews/a.json",) * 2,
    ("pipelines/run/train/model/x", "pipelines/run/train"), ("pipelines/run/suggestions/a.json",) * 2,
    ("pipelines/run/suggestions", None), ("experiments/e/runs/x", "experiments/e"), ("tour/abc", None), ("", None),
])  # fmt: skip
def test_places_are_parts_of_artifacts(path: str, name: str | None) -> None:
    assert name_of(path) == name


@in_store
def test_damage_is_seen_and_copies_are_fetched_again(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = write()
    publish_files(here)
    flip_bit(here / "model.safetensors")
    (here / "matcher.json").unlink()
    with held(here):
        assert contents(here) == FILES
    there = store()
    assert there is not None
    entry = (there.read(MODEL) or {})["model.safetensors"]
    there.files.pipe_file(f"{there.root}/{entry.key}", FILES["model.safetensors"][::-1])
    with held(here):
        assert contents(here) == FILES
    home, other = os.environ["ALLPAIRS_HOME"], other_machine(monkeypatch, here)
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"), held(other):
        pass
    there.remove(entry.key)
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"), held(other):
        pass
    assert not list(other.glob("*safetensors*")) and not list(other.parents[3].rglob("*.part"))
    monkeypatch.setenv("ALLPAIRS_HOME", home)
    publish_files(here, replace=True)
    with held(other_machine(monkeypatch, here)):
        assert contents(other) == FILES
    there.files.pipe_file(f"{there.root}/manifests/{MODEL}.json", b"[")
    with pytest.raises(InputError, match=r"manifests/project-1/next/model\.json is damaged"), held(other):
        pass


KILLED = """
import os, signal
from pathlib import Path
from allpairs.db.files.artifacts import artifacts, publish_files
from allpairs.db.files.object_store import Store
send, sent = Store._send, []
def one(self, file, key):
    if sent:
        os.kill(os.getpid(), signal.SIGKILL)
    sent.append(send(self, file, key))
Store._send = one
publish_files(artifacts() / "project-1/next/model")
"""


@on_s3
def test_a_killed_upload_is_not_seen_and_the_next_one_is_whole(
    place: str, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = write()
    assert subprocess.run([sys.executable, "-c", KILLED]).returncode == -SIGKILL
    there = store()
    assert there is not None and len(there.objects()) == 1
    assert there.names() == [] and not is_there(here)
    publish_files(here)
    assert len(there.objects()) == 4
    with pytest.raises(InputError, match="none of the 1 projects"):
        list(garbage(engine, datetime.now(UTC)))
    make_project(engine, ["one", "two"])
    left = [one for one in garbage(engine, datetime.now(UTC) + timedelta(days=2)) if one.in_store]
    assert len(left) == 1 and left[0].place not in {entry.key for entry in (there.read(MODEL) or {}).values()}
    with held(other_machine(monkeypatch, here)) as folder:
        assert contents(folder) == FILES


READS = """
from allpairs.db.files.artifacts import artifacts, held
with held(artifacts() / "project-1/next/model") as folder:
    print(sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))
"""


@on_s3
def test_two_processes_fetch_at_once(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here = write()
    (here / "large").write_bytes(os.urandom(1 << 22))
    publish_files(here)
    other = other_machine(monkeypatch, here)
    both = [subprocess.Popen([sys.executable, "-c", READS], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [int(process.communicate()[0]) for process in both]
    assert said == [size_of(other)] * 2 and contents(other) == contents(here)


@in_memory
def test_the_oldest_unused_copies_make_room(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [write(f"project-1/{name}/model") for name in ("a", "b", "c")]
    for folder in folders:
        publish_files(folder)
        time.sleep(0.01)
    a, b, c = folders
    shutil.rmtree(b)
    monkeypatch.setenv("ALLPAIRS_CACHE_BYTES", str(int(1.5 * size_of(a))))
    with held(c), held(b):  # which is fetched again, and now the newest
        assert [contents(folder) == FILES for folder in folders] == [False, True, True]
    monkeypatch.setenv("ALLPAIRS_CACHE_BYTES", "1")
    with held(a):
        assert [contents(folder) == FILES for folder in folders] == [True, False, False]
    monkeypatch.setenv("ALLPAIRS_CACHE_BYTES", "50 GB")
    with pytest.raises(InputError, match="ALLPAIRS_CACHE_BYTES=50 GB"):
        publish_files(a)


@in_memory
def test_what_is_being_written_is_not_overwritten(place: str) -> None:
    here = write()
    publish_files(here)
    with publishing(here / "matcher.json") as file:
        file.write_text("new")
        with held(here):
            assert file.read_text() == "new"
    file.write_text("by a process that was killed before it published it")
    with held(here):
        assert file.read_text() == "new"
    with pytest.raises(OSError, match="full"), publishing(here / "matcher.json"):
        file.write_text("half")
        raise OSError("full")
    with held(here):
        assert file.read_text() == "new"


@pytest.mark.parametrize("place", ["folder", "s3"], indirect=True)
def test_garbage_is_what_no_row_names_for_a_day(
    place: str, engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, ["one", "two"])
    kept, gone = (write(f"project-{project_id}/{name}/model") for name in ("named", "killed"))
    other = write("project-99/job/model")
    for folder in (kept, gone, other):
        publish_files(folder)
    publish_files(write(f"project-{project_id}/base-1/x"))
    with writing(engine) as session:
        session.add(
            StoredModel(
                project_id=project_id,
                number=1,
                folder=f"project-{project_id}/named/model",
                encoder="e",
                w=1.0,
                b=0.0,
                labels=1,
                positives=1,
            )
        )
    (kept / "matcher.json").write_text('{"w": 1.0, "b": 0.0}')
    publish_files(kept / "matcher.json")
    assert list(problems(engine)) == []
    assert list(garbage(engine, datetime.now(UTC))) == []  # a job may be at work
    monkeypatch.setattr("allpairs.db.maintenance.garbage.AGE", timedelta(days=-1))
    (artifacts() / "project-98").mkdir()  # its deletion was killed before its last step
    expected = [f"project-{project_id}/killed", "project-98", "project-99"]
    replaced = [] if place == "folder" else [2]  # the size of the file that another took the place of
    for options in (["--dry-run"], []):
        capsys.readouterr()
        with pytest.raises(SystemExit):
            run(app, ["db", "collect", "--json", *options])
        found = json.loads(capsys.readouterr().out)["found"]
        assert [one["place"] for one in found if not one["in_store"]] == expected
        assert [one["size"] for one in found if one["in_store"]] == replaced
        assert is_there(gone) == bool(options)
    assert not gone.exists() and not other.parent.exists() and is_there(kept) and list(problems(engine)) == []
    assert list(garbage(engine, datetime.now(UTC))) == []


@in_memory
def test_the_check_looks_at_the_store(place: str, engine: Engine) -> None:
    publish_files(write())
    there = store()
    assert isinstance(there, Store) and list(problems(engine)) == []
    key = (there.read(MODEL) or {})["model.safetensors"].key
    there.files.pipe_file(f"{there.root}/{key}", b"short")
    (problem,) = problems(engine)
    assert problem.endswith(f"damaged or missing: {there.address}/{key}")
    there.files.pipe_file(f"{there.root}/manifests/{MODEL}.json", b"{")
    assert [MODEL in line and "damaged" in line for line in problems(engine)] == [True]


def test_a_store_that_cannot_be_had_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", "nothing-like-this://bucket")
    with pytest.raises(InputError, match=r"nothing-like-this://bucket.*ALLPAIRS_ARTIFACTS"):
        is_there(artifacts() / MODEL)
