"""The migrations produce exactly the models' tables, however often and by however many processes they are run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect

from allpairs.db.errors import InputError
from allpairs.db.maintenance.upgrade import upgrade
from allpairs.db.schema.engine import LAST_WITH_OLDER_REVISIONS, make_engine, migrate, revision, writing
from allpairs.db.schema.tables import Base, Project
from tests.helpers.machine import ROOT


def test_the_tables_are_those_of_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_tables_with_numbers_given_once_are_those_of_the_models(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'allpairs.db'}"
    migrate(url)
    engine = make_engine(url)
    with engine.connect() as connection:
        statement = "select name from sqlite_master where type = 'table' and sql like '%AUTOINCREMENT%'"
        tables = set(connection.exec_driver_sql(statement).scalars())
    models = {name for name, table in Base.metadata.tables.items() if table.dialect_kwargs["sqlite_autoincrement"]}
    assert tables == models >= {"projects", "rounds", "tasks"}
    engine.dispose()


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(Project(name="Kept", kind="symmetric", settings={}))
    before = inspect(engine).get_table_names()
    migrate()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("select name from projects").scalars().all() == ["Kept"]
    assert inspect(engine).get_table_names() == before


def test_processes_that_migrate_at_once_all_succeed(home: Path) -> None:
    code = "from allpairs.db.schema.engine import migrate; migrate()"
    runs = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    results = [(run.communicate(timeout=120)[1].decode(), run.returncode) for run in runs]
    assert [code for _, code in results] == [0, 0, 0], results
    engine = make_engine()
    assert set(inspect(engine).get_table_names()) == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_a_database_of_before_the_first_release_opens(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(Project(name="Kept", kind="symmetric", settings={}))
        for change in (
            *(f"DROP TABLE {name}" for name in ("group_moves", "pair_decisions", "list_rows", "list_versions")),
            "ALTER TABLE rounds ADD COLUMN ordered VARCHAR(32)",
            "ALTER TABLE tasks ADD COLUMN rerank DOUBLE PRECISION",
            "UPDATE alembic_version SET version_num = '0026'",
        ):
            session.connection().exec_driver_sql(change)
    assert upgrade() is not None
    assert upgrade() is None
    with engine.connect() as connection:
        assert connection.exec_driver_sql("select name from projects").scalars().all() == ["Kept"]
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


@pytest.mark.parametrize(
    ("number", "remedy"), [("0025", f"check out commit {LAST_WITH_OLDER_REVISIONS}"), ("9999", "of a later version")]
)
def test_tables_that_no_migration_knows_are_refused(engine: Engine, number: str, remedy: str) -> None:
    with writing(engine) as session:
        session.connection().exec_driver_sql(f"UPDATE alembic_version SET version_num = '{number}'")
    with pytest.raises(InputError, match=re.escape(remedy)) as refused:
        upgrade()
    assert number in str(refused.value)
    assert revision(engine) == number
