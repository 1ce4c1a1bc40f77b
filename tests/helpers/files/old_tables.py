"""Databases as an earlier version made them."""

from collections.abc import Iterator
from contextlib import contextmanager

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from allpairs.db.schema.engine import make_engine
from tests.helpers.paths import ROOT


@contextmanager
def tables_of(revision: str) -> Iterator[Connection]:
    """Yield a connection to an empty database with an earlier revision's tables and a project."""
    engine, config = make_engine(), Config()
    config.set_main_option("script_location", str(ROOT / "db" / "migrations"))
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
        connection.exec_driver_sql(
            "insert into projects (name, kind, settings, created_at) values ('Old', 'symmetric', '{}', '2026-01-02')"
        )
        yield connection
    engine.dispose()
