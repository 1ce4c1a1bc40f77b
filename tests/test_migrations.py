"""The migrations make exactly the tables of the models, however often and by however many processes they are run."""

import subprocess
import sys
from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, inspect

from db.engine import make_engine, migrate, reading, writing
from db.models import Base, Project
from db.projects import all_projects

ROOT = Path(__file__).parent.parent


def test_the_tables_are_those_of_the_models(engine: Engine) -> None:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrating_again_changes_nothing(engine: Engine) -> None:
    with writing(engine) as session:
        session.add(Project(name="Kept", kind="symmetric", settings={}))
    before = inspect(engine).get_table_names()
    migrate()
    with engine.connect() as connection:
        assert connection.exec_driver_sql("select name from projects").scalars().all() == ["Kept"]
    assert inspect(engine).get_table_names() == before


def test_processes_that_migrate_at_once_all_succeed(home: Path) -> None:
    code = "from db.engine import migrate; migrate()"
    runs = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    results = [(run.communicate(timeout=120)[1].decode(), run.returncode) for run in runs]
    assert [code for _, code in results] == [0, 0, 0], results
    engine = make_engine()
    assert set(inspect(engine).get_table_names()) == {*Base.metadata.tables, "alembic_version"}
    engine.dispose()


def test_projects_made_before_they_could_be_put_away_are_listed(home: Path) -> None:
    engine = make_engine()
    config = Config()
    config.set_main_option("script_location", str(ROOT / "db" / "migrations"))
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        connection.exec_driver_sql(
            "insert into projects (name, kind, settings, created_at) values ('Old', 'symmetric', '{}', '2026-01-02')"
        )
    migrate()
    with reading(engine) as session:
        assert [(project.name, project.archived_at) for project in all_projects(session)] == [("Old", None)]
    engine.dispose()
