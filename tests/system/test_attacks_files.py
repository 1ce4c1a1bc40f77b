"""Files that try to be too large, to escape their folder or to run: each gives one line and stores nothing."""

import gzip
import json
import re
import stat
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.labels.import_labels import import_labels
from allpairs.annotate.features.projects.projects import list_projects
from allpairs.db.corpus.files import column_names, preview, read_rows
from allpairs.db.errors import InputError
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT

NAME = "Questions"
MOST_MEMORY = 100_000_000  # bytes, of Python's own
DEEP = 100_000

Change = Callable[[ZipFile], None]


def link(bundle: ZipFile) -> None:
    """Add a symbolic link that leads out of the folder of models, with a file behind it."""
    info = ZipInfo("models/1/out")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    bundle.writestr(info, "/etc")
    bundle.writestr("models/1/out/passwd", "x")


def write(name: str, content: str | bytes = "x") -> Change:
    return lambda bundle: bundle.writestr(name, content, ZIP_DEFLATED)


ADDED: dict[str, tuple[Change, str]] = {
    "a link": (link, "cannot read or unpack"),
    "a way up": (write("models/1/../../../../x"), "bad file name"),
    "a way up by another sign": (write("vectors/1/..\\..\\x"), "bad file name"),
    "an absolute name": (write("models/1//etc/x/../../x"), "bad file name"),
    "no round": (write("models/../1/x"), "bad file name"),
    "a long name": (write(f"models/1/{'x' * 5000}"), "cannot read or unpack"),
    "pickled weights": (write("models/1/pytorch_model.bin"), "could run code when it is read"),
    "a pickle": (write("designs/1/sub/estimator.PKL"), "could run code when it is read"),
    "a bomb": (write("models/1/x", b"\0" * 400_000_000), "it would unpack to 400,"),
}
REPLACED: dict[str, tuple[str, bytes, str]] = {
    "a deep list of contents": ("manifest.json", b"[" * DEEP, "lists in lists"),
    "contents of another kind": ("manifest.json", b"[]", "not a complete"),
    "other tables": ("manifest.json", b'{"format": "allpairs-project", "version": 1, "tables": []}', "'list'"),
    "a deep row": ("tables/projects.jsonl", b'{"settings": ' + b"[" * DEEP, "lists in lists"),
    "a row of another kind": ("tables/projects.jsonl", b'["a"]', "the row is a list"),
    "settings of another kind": ("tables/projects.jsonl", b'{"id": 1, "settings": []}', "not an object"),
    "a number beyond all measure": ("tables/items.jsonl", b'{"id": 1' + b"0" * 30 + b"}", "column 'id'"),
    "a number of too many digits": ("tables/items.jsonl", b'{"id": ' + b"9" * 5_000 + b"}", "digits"),
}  # fmt: skip


@pytest.fixture
def archive(engine: Engine, tmp_path: Path) -> Path:
    make_round(engine, make_project(engine, ["a", "b", "c"], name=NAME), 2)
    export_project(engine, NAME, tmp_path / "one.zip")
    return tmp_path / "one.zip"


def refused(engine: Engine, home: Path, path: Path) -> str:
    """Return the one line of the refusal, after checking that nothing was stored or written elsewhere."""
    before = {file for file in home.parent.rglob("*") if "allpairs.db" not in file.name}
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        import_project(engine, path)
    assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    tracemalloc.stop()
    after = {file for file in home.parent.rglob("*") if "allpairs.db" not in file.name}
    assert after - before <= {home / "artifacts"}
    assert [project.name for project in list_projects(engine)] == [NAME]
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300
    return str(caught.value)


@pytest.mark.parametrize("what", ADDED)
def test_members_that_lie_elsewhere_or_are_too_much(engine: Engine, home: Path, archive: Path, what: str) -> None:
    add, said = ADDED[what]
    with ZipFile(archive, "a") as bundle:
        add(bundle)
    assert said in refused(engine, home, archive)


@pytest.mark.parametrize("what", REPLACED)
def test_contents_of_another_shape(engine: Engine, home: Path, archive: Path, what: str) -> None:
    name, content, said = REPLACED[what]
    bad = archive.with_name("bad.zip")
    with ZipFile(archive) as old, ZipFile(bad, "w") as new:
        for member in old.namelist():
            new.writestr(member, content if member == name else old.read(member))
    assert said in refused(engine, home, bad)


def test_a_member_with_a_password(engine: Engine, home: Path, archive: Path) -> None:
    data = bytearray(archive.read_bytes())
    for start, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # of each member, in its head and in the list
        at = -1
        while (at := data.find(start, at + 1)) >= 0:
            data[at + flags] |= 1
    archive.write_bytes(data)
    assert "password" in refused(engine, home, archive)


# Processes that train together hand each other pickles, in a folder that nobody else can read.
OWN_PROCESSES = ("learner/runtime/training_launcher.py", "learner/runtime/training_member.py")


def test_nothing_of_ours_reads_pickles_or_runs_a_models_code() -> None:
    # What reads tensors alone may read, and its error may be caught.
    never = (
        r"allow_pickle\s*=\s*True|trust_remote_code\W*True|torch\.load\((?![^()]*weights_only=True)"
        r"|^\s*(import|from) (?!pickle import UnpicklingError$)(pickle|joblib|dill)\b"
    )
    for folder in ("annotate", "db", "learner"):
        for path in (ROOT / folder).rglob("*.py"):
            if path.relative_to(ROOT).as_posix() not in OWN_PROCESSES:
                assert not re.search(never, path.read_text(), re.M), path


# Tables


def said_of(path: Path, *columns: str) -> str:
    """Return the one line about a table; reading it costs little."""
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        list(read_rows(path, columns or ("id", "text")))
    assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    tracemalloc.stop()
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1_000
    return str(caught.value)


def test_a_line_without_end(tmp_path: Path) -> None:
    for name, head in (("a.csv", b"id,text\n1,"), ("a.tsv", b"id\ttext\n1\t"), ("a.jsonl", b'{"id": 1, "text": "')):
        path = tmp_path / f"{name}.gz"
        with gzip.open(path, "wb", compresslevel=1) as stream:
            stream.write(head)
            stream.writelines([b"x" * 1_000_000] * 50)
        assert "100,000" in said_of(path)
        assert path.stat().st_size < 1_000_000


def test_brackets_without_end(tmp_path: Path) -> None:
    for value in ("[" * DEEP, '{"a":' * DEEP, "[" * DEEP + "]" * DEEP, "9" * 10_000):
        (tmp_path / "a.jsonl").write_text(f'{{"id": 1, "text": {value}}}\n')
        assert "nested too deeply" in said_of(tmp_path / "a.jsonl")


def test_more_columns_than_anybody_has(tmp_path: Path) -> None:
    names = ",".join(f"c{i}" for i in range(200_000))
    (tmp_path / "a.csv").write_text(f"{names}\n{names}\n")
    assert "columns, but the limit" in said_of(tmp_path / "a.csv", "c1")
    (tmp_path / "a.jsonl").write_text(json.dumps({f"c{i}": i for i in range(200_000)}) + "\n")
    assert "columns, but the limit" in said_of(tmp_path / "a.jsonl", "c1")
    with pytest.raises(InputError, match="columns, but the limit"):
        preview(tmp_path / "a.jsonl", 5)


def test_a_file_name_that_leads_elsewhere_keeps_its_last_part(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        column_names(tmp_path / ".." / ".." / "no.csv")


def test_a_table_of_labels_that_is_no_table(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], name=NAME)
    path = tmp_path / "labels.csv.gz"
    path.write_bytes(gzip.compress(b"id1,id2,label\n") + b"PK\x03\x04")
    with pytest.raises(InputError):
        import_labels(engine, NAME, path)
