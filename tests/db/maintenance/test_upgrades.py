"""Upgrades from every released schema: all rows survive with the same meaning, on both databases."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine

from allpairs.annotate.features.label.own_answers import history
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.frame.access.logins import log_in
from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.maintenance.backup import SECRETS
from allpairs.db.maintenance.integrity import problems
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.projects.projects import all_projects
from allpairs.db.schema.engine import artifacts, make_engine, migrate, reading, revision, writing
from allpairs.db.schema.tables import Base
from tests.helpers.files.databases import LABELS, Row, add_revision, rows_in, store_rows
from tests.helpers.machine import ROOT
from tests.helpers.people import PASSWORD, START
from tests.helpers.services.servers import drop_database, new_database


def released() -> list[str]:
    """Return all revisions, oldest first."""
    config = Config()
    config.set_main_option("script_location", str(ROOT / "db" / "migrations"))
    return [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()][::-1]


@pytest.fixture
def url(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of an empty database of each kind."""
    if request.param == "sqlite":
        address = f"sqlite:///{home / 'allpairs.db'}"
        monkeypatch.setenv("ALLPAIRS_DATABASE_URL", address)
        yield address
        return
    server = request.getfixturevalue("server")
    address = new_database(server, "old")
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", address)
    yield address
    drop_database(server, "old")


@pytest.fixture
def filled(url: str) -> Iterator[Callable[[str], Engine]]:
    """Yield a function that makes the tables of a revision, with rows in all of them."""
    engine = make_engine(url)

    def fill(of: str) -> Engine:
        migrate(url, of)
        with writing(engine) as session:
            store_rows(session.connection())
        return engine

    yield fill
    engine.dispose()


def contents(engine: Engine) -> dict[str, list[Row]]:
    with engine.connect() as connection:
        return rows_in(connection)


@pytest.mark.parametrize("number", released())
@pytest.mark.parametrize("url", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)], indirect=True)
def test_rows_of_every_revision_are_there_and_mean_the_same(
    number: str, filled: Callable[[str], Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = filled(number)
    before = contents(engine)
    add_revision(tmp_path, monkeypatch)
    saved = upgrade(engine.url.render_as_string(hide_password=False))
    after = contents(engine)
    assert [table for table, rows in before.items() if not are_in(rows, after[table])] == []
    assert saved is not None
    copy = make_engine(f"sqlite:///{saved}")
    assert revision(copy) == number
    counts = {table: len(rows) for table, rows in before.items()} | dict.fromkeys(SECRETS & set(before), 0)
    assert {table: len(rows) for table, rows in contents(copy).items()} == counts
    copy.dispose()
    with engine.connect() as connection:
        differences = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True}), Base.metadata
        )
    assert differences == []
    says_the_same(engine)
    assert log_in(engine, "ZOË", PASSWORD, "1.1.1.1", START)


def are_in(before: list[Row], after: list[Row]) -> bool:
    """Return whether the rows are equal in any order; a column that only one side has must be empty before."""
    shared = set(before[0]) & set(after[0]) if before and after else set()
    lost = any(value is not None for row in before for name, value in row.items() if name not in shared)
    return not lost and _shown(before, shared) == _shown(after, shared)


def _shown(rows: list[Row], columns: set[str]) -> list[str]:
    return sorted(repr([(name, row[name]) for name in sorted(columns)]) for row in rows)


def says_the_same(engine: Engine) -> None:
    """Check that today's services read the rows as before, and accept new answers."""
    (artifacts() / "design-1").mkdir(parents=True, exist_ok=True)
    assert list(problems(engine)) == []
    with reading(engine) as session:
        assert [project.name for project in all_projects(session)][-1] == "Old"
        for cutoff in (None, 10**9):  # as the trigger keeps them, and worked out of the answers
            labels = current_labels(session, 1, cutoff)
            assert {(one.left_id, one.right_id): str(one.answer) for one in labels} == LABELS
    report = read_report(engine, 1)
    assert [matcher.number for matcher, _ in report.measured] == [1]
    assert report.settings.question == "The same?"
    assert history(engine, 1, "ann", 5).total == 2
    pairs, standing = serve(engine, 1, "ben")
    assert (standing.progress.number, [pair.left for pair in pairs]) == (2, ["Text 2 — 50 %'\n"])
    answer = {"key": "new", "task_id": pairs[0].task_id, "answer": AnswerKind.POSITIVE, "seconds": 1.0}
    assert record(engine, 1, "ben", [answer]).stored == ["new"]
    with reading(engine) as session:
        assert len(current_labels(session, 1)) == len(LABELS) + 1
