"""Back-ups: every row is restored, also in another version and on another installation, or nothing changes."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.cli.commands import app
from allpairs.annotate.frame.access import people, tokens
from allpairs.db.domain import DesignKind
from allpairs.db.errors import InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.maintenance import upgrade as upgrades
from allpairs.db.maintenance.backup import backup, restore
from allpairs.db.maintenance.integrity import problems
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.schema.engine import artifacts, make_engine, reading, revision, writing
from allpairs.db.schema.tables import Answer, Design, Job, Project, now
from allpairs.program import run
from tests.helpers.files.databases import NUMBER, add_revision, contents, label_some
from tests.helpers.people import START, make_person


@pytest.fixture
def labelled(engine: Engine) -> int:
    """Return a project with three answers, one of them corrected, and a waiting job."""
    return label_some(engine)


def test_another_installation_gets_every_row(
    engine: Engine, labelled: int, tmp_path: Path, elsewhere: Callable[[str], Engine]
) -> None:
    before = contents(engine)
    rows = backup(engine, tmp_path / "b.db")
    assert (rows["projects"], rows["items"], rows["answers"], rows["labels"]) == (1, 4, 4, 3)
    other = elsewhere("other")
    assert restore(tmp_path / "b.db", other, replace=False) == rows
    assert contents(other) == before
    with reading(other) as session:
        assert current_labels(session, labelled) == current_labels(session, labelled, 10**9)
        assert [job.state for job in session.scalars(select(Job))] == ["cancelled"]
    assert label_some(other, "Later") != labelled  # new rows get numbers of their own


def test_projects_are_lost_only_when_asked_for(engine: Engine, labelled: int, tmp_path: Path) -> None:
    backup(engine, tmp_path / "b.db")
    with writing(engine) as session:
        session.add(Project(name="Newer", kind="symmetric", settings={}))
    before = contents(engine)
    with pytest.raises(InputError, match="2 projects"):
        restore(tmp_path / "b.db", engine, replace=False)
    assert contents(engine) == before
    restore(tmp_path / "b.db", engine, replace=True)
    assert len(contents(engine)["projects"]) == 1


def test_no_token_comes_back(engine: Engine, tmp_path: Path) -> None:
    anna = make_person(engine, "Anna")
    token = tokens.make(engine, anna, "withdrawn later", START)
    backup(engine, tmp_path / "b.db")
    tokens.withdraw_token(engine, anna, tokens.list_tokens(engine, anna)[0].id)
    restore(tmp_path / "b.db", engine, replace=True)
    assert people.id_of(engine, "Anna") == anna
    with pytest.raises(InputError, match="token is unknown"):
        tokens.bearer_of(engine, token, "here", START)


def test_what_is_no_backup_changes_nothing(engine: Engine, labelled: int, tmp_path: Path) -> None:
    before = contents(engine)
    (tmp_path / "text.db").write_text("no database at all, though long enough to be one" * 100)
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE t (x)")
    backup(engine, tmp_path / "cut.db")
    whole = (tmp_path / "cut.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[: len(whole) // 2])
    for name in ("text.db", "other.db", "cut.db", "absent.db"):
        with pytest.raises(InputError, match=name):
            restore(tmp_path / name, engine, replace=True)
    assert contents(engine) == before


def test_a_backup_never_overwrites(engine: Engine, labelled: int, tmp_path: Path) -> None:
    (tmp_path / "b.db").write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        backup(engine, tmp_path / "b.db")
    assert (tmp_path / "b.db").read_text() == "mine"


@pytest.fixture
def outdated(engine: Engine, labelled: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the revision of a database that has to be upgraded."""
    add_revision(tmp_path, monkeypatch)
    return revision(engine) or ""


def test_an_upgrade_keeps_the_rows_as_they_were(engine: Engine, outdated: str, home: Path) -> None:
    before = contents(engine)
    saved = upgrade()
    assert saved is not None and saved.parent == home / "backups"
    copy = make_engine(f"sqlite:///{saved}")
    assert (revision(copy), revision(engine)) == (outdated, NUMBER)
    assert upgrade() is None
    with writing(engine) as session:
        session.execute(select(Project)).scalar_one().name = "Renamed"
    restore(saved, engine, replace=True)
    assert contents(engine)["projects"] == before["projects"]
    copy.dispose()


def test_an_upgrade_removes_what_a_killed_one_left(outdated: str, home: Path) -> None:
    (home / "backups").mkdir(parents=True)
    for name in (f"2026-01-02T03-04-05-before-{NUMBER}-from-{outdated}.db.part", "my own.db.part"):
        (home / "backups" / name).write_text("half of it")
    saved = upgrade()
    assert saved is not None
    assert {path.name for path in (home / "backups").iterdir()} == {saved.name, "my own.db.part"}


def test_upgrades_at_nearly_the_same_moment_keep_both_backups(
    engine: Engine, outdated: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = now()
    times = iter([moment, moment + timedelta(microseconds=1)])
    monkeypatch.setattr(upgrades, "now", lambda: next(times))
    for _ in range(2):
        with writing(engine) as session:
            session.connection().exec_driver_sql(f"UPDATE alembic_version SET version_num = '{outdated}'")
        assert upgrade() is not None
    assert len(list((home / "backups").iterdir())) == 2


def test_a_failed_backup_stops_the_upgrade(engine: Engine, outdated: str, home: Path) -> None:
    (home / "backups").write_text("in the way")
    with pytest.raises(OSError, match="backups"):
        upgrade()
    assert revision(engine) == outdated


def test_a_backup_of_a_later_version_is_refused_by_name(engine: Engine, labelled: int, tmp_path: Path) -> None:
    before = contents(engine)
    file = tmp_path / "later.db"
    backup(engine, file)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match=r"later\.db.*later version.*9999"):
        restore(file, engine, replace=True)
    assert contents(engine) == before


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        ("DELETE FROM labels WHERE answer = 'unsure'", "1 labels do not match"),
        ("DELETE FROM items WHERE text = 'text 0'", "names missing rows of items: 1"),
        ("UPDATE matchers SET folder = 'gone'", "folder of model 0 is missing"),
    ],
)
def test_damage_is_found(engine: Engine, labelled: int, harm: str, said: str) -> None:
    assert list(problems(engine)) == []
    unchecked = "PRAGMA foreign_keys=OFF" if engine.dialect.name == "sqlite" else "SET session_replication_role=replica"
    with engine.connect() as connection:
        raw = connection.connection.cursor()  # beside SQLAlchemy, which begins a transaction: too late for the first
        for statement in (unchecked, harm):
            raw.execute(statement)
        connection.connection.commit()
        connection.invalidate()
    found = list(problems(engine))
    assert any(said in problem for problem in found), found


@pytest.mark.parametrize("kind", DesignKind)
def test_only_audits_keep_a_folder(engine: Engine, labelled: int, kind: DesignKind) -> None:
    with writing(engine) as session:
        session.add(Design(project_id=labelled, number=1, kind=kind, pairs=1, strata=[], folder="gone"))
    found = list(problems(engine))
    assert ["design 1 is missing" in problem for problem in found] == [True] * (kind == DesignKind.AUDIT)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Return a function that runs `allpairs db …` and returns exit code, stdout, stderr."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            run(app, ["db", *arguments])
        return int(ended.value.code or 0), *capsys.readouterr()

    return call


def test_the_commands(
    engine: Engine, labelled: int, tmp_path: Path, elsewhere: Callable[[str], Engine], command: Any
) -> None:
    code, out, _ = command("backup", "--out", str(tmp_path / "b"), "--json")
    assert (code, json.loads(out)["rows"]["answers"]) == (0, 4)
    assert command("backup", "--out", str(tmp_path / "b"))[0] == 2
    code, out, _ = command("upgrade")
    assert code == 0 and "already up to date" in out
    elsewhere("other")
    left = artifacts() / "before"
    left.mkdir(parents=True)
    code, out, err = command("restore", str(tmp_path / "b"))
    assert (code, "4 texts and 4 answers" in out) == (0, True), err
    assert (artifacts() / str(labelled) / "model" / "weights").read_text() == "weights"
    assert not left.exists() and len(list(artifacts().parent.glob("artifacts-before-*/before"))) == 1
    assert command("check") == (0, "no damage found\n", "")
    (artifacts() / str(labelled) / "model").rename(artifacts() / "moved")
    code, out, _ = command("check")
    assert (code, "model 0 is missing" in out) == (1, True)
    with reading(make_engine()) as session:
        assert len(session.scalars(select(Answer)).all()) == 4
