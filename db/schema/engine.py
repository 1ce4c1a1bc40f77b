"""The database: its address, its engine, and the migration of its tables."""

import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.orm import Session

from allpairs.db.domain import Scope
from allpairs.db.errors import InputError
from allpairs.db.files.home import artifacts as artifacts
from allpairs.db.files.home import home as home
from allpairs.db.files.private import FOLDER, open_private

# Providers write `postgres://`, which SQLAlchemy does not know; other libraries name drivers of their own.
_POSTGRES = re.compile(r"^postgres(ql)?(\+\w+)?://", re.IGNORECASE)
MIGRATIONS = Path(__file__).parent.parent / "migrations"
LAST_WITH_OLDER_REVISIONS = "83845d39 (2026-11-28)"  # the commit that upgrades from before the first of today's


def database_url() -> str:
    """Return the address of the database: `ALLPAIRS_DATABASE_URL`, else a SQLite file in `home()`.

    Raises InputError for an address of another kind.
    """
    url = os.environ.get("ALLPAIRS_DATABASE_URL", "").strip()
    if not url:
        return f"sqlite:///{home() / 'allpairs.db'}"
    if not url.startswith("sqlite:") and not _POSTGRES.match(url):
        problem = f"ALLPAIRS_DATABASE_URL begins with {url.partition(':')[0][:20]!r}"
        raise InputError(f"{problem}: write postgresql://user:password@host/name, or sqlite:////folder/file")
    return _POSTGRES.sub("postgresql://", url)


def with_driver(url: str) -> str:
    """Return the address with the driver that is installed, however PostgreSQL is spelt in it."""
    return _POSTGRES.sub("postgresql+psycopg://", url)


def jobs_url() -> str:
    """Return the address of the job queue: a separate SQLite file, or the PostgreSQL database itself."""
    url = database_url()
    return f"sqlite:///{home() / 'jobs.db'}" if url.startswith("sqlite") else url


def make_engine(url: str | None = None) -> Engine:
    """Return an engine on which every transaction of `writing` takes SQLite's write lock at its start."""
    url = url or database_url()
    if not url.startswith("sqlite"):
        # Errors and logs contain no values.
        engine = create_engine(with_driver(url), pool_pre_ping=True, hide_parameters=True)
        event.listen(engine, "handle_error", _leave_values_out)
        return engine
    if (file := sqlite_file(url)) is not None:
        _make(file)
    engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": 30}, hide_parameters=True)
    event.listen(engine, "connect", prepare_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def sqlite_file(url: str) -> Path | None:
    """Return the file of the database of this address; None for one in memory or on a server."""
    address = make_url(url)
    is_file = address.get_backend_name() == "sqlite" and address.database not in (None, "", ":memory:")
    return Path(str(address.database)) if is_file else None


def _make(file: Path) -> None:
    """Make the file of a database and its folder, closed to other users: SQLite gives the files beside it its mode."""
    file.parent.mkdir(FOLDER, parents=True, exist_ok=True)
    with suppress(OSError):  # an existing file must stay unopened: closing it would end SQLite's locks on it
        os.close(open_private(str(file), os.O_CREAT | os.O_EXCL))


def _leave_values_out(context: Any) -> None:
    """Shorten the error to its primary message, without the row that PostgreSQL's message quotes."""
    diagnosis = getattr(context.original_exception, "diag", None)
    if diagnosis is None or not diagnosis.message_primary:
        return
    primary = f"{diagnosis.message_primary} ({diagnosis.sqlstate})"
    context.original_exception.args = (primary,)
    if context.sqlalchemy_exception is not None:
        context.sqlalchemy_exception.args = (primary,)


def prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the "begin" event opens transactions, not the driver
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "busy_timeout=30000", "synchronous=NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Any) -> None:
    # A deferred BEGIN lets two processes read before either writes: both then claim the same task.
    mode = "IMMEDIATE" if connection.get_execution_options().get("write") else "DEFERRED"
    connection.exec_driver_sql(f"BEGIN {mode}")


def _let_tables_be_made_anew(connection: Any, _record: Any) -> None:
    # SQLite changes a column by recreating its table; dropping the old one would delete all rows that reference it.
    connection.execute("PRAGMA foreign_keys=OFF")


def as_person(engine: Engine, person_id: int, scopes: Collection[Scope] | None = None) -> Engine:
    """Return the engine for this person's requests, which sees only their projects.

    scopes: those of the token with which they ask; None: no token limits them. `writing` refuses such an engine. Number
    0 is nobody, who sees nothing.
    """
    return engine.execution_options(person=person_id, scopes=scopes)


def as_system(engine: Engine) -> Engine:
    """Return the engine for what the system itself does, whoever caused it."""
    return engine.execution_options(person=None, scopes=None)


def person_of(engine: Engine | Connection) -> int | None:
    """Return whom the engine is for; None: the system, the command line, or an app without sign-in."""
    return engine.get_execution_options().get("person")


def scopes_of(engine: Engine | Connection) -> Collection[Scope] | None:
    """Return the scopes of the token with which the engine's person asks; None: no token limits them."""
    return engine.get_execution_options().get("scopes")


def with_check(engine: Engine, check: Callable[[Session], None]) -> Engine:
    """Return the engine with a check at the end of each write transaction, which is rolled back if the check raises."""
    return engine.execution_options(check=check)


@contextmanager
def writing(engine: Engine) -> Iterator[Session]:
    """Open a session in one write transaction: committed at the end, rolled back on any error.

    Raises RuntimeError for a person's engine: their writes must name the right they need (`acting`).
    """
    if person_of(engine) is not None:
        raise RuntimeError(
            "a person's write must name the right it needs: use annotate.frame.access.transactions.acting"
        )
    with (
        engine.connect().execution_options(write=True) as connection,
        connection.begin(),
        Session(connection, expire_on_commit=False) as session,
    ):
        yield session
        session.flush()
        if (check := engine.get_execution_options().get("check")) is not None:
            check(session)


@contextmanager
def reading(engine: Engine) -> Iterator[Session]:
    """Open a session for reading: all its statements see the database as of the first one, and nothing is stored."""
    connection = engine.connect()
    if connection.dialect.name == "postgresql":  # by default each statement would see what was committed before it
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
    with connection, Session(connection, expire_on_commit=False) as session:
        yield session


def revision(engine: Engine) -> str | None:
    """Return the revision of the database's tables; None if there are none."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def newest_revision() -> str:
    """Return the revision of the tables that this version needs."""
    return _versions().get_current_head() or ""


def _versions() -> ScriptDirectory:
    return ScriptDirectory(str(MIGRATIONS))


def _require_known(number: str) -> None:
    """Raise InputError unless there is a migration for the tables of this revision."""
    versions = _versions()
    if number in {version.revision for version in versions.walk_revisions()}:
        return
    if number < str(versions.get_base()):
        raise InputError(
            f"the database has the tables of an earlier version ({number}): copy it, check out commit "
            f"{LAST_WITH_OLDER_REVISIONS}, run `allpairs db upgrade` there, and come back"
        )
    raise InputError(
        f"the database has the tables of a later version ({number}; this version needs {newest_revision()}): "
        "install that version, or restore a back-up"
    )


def migrate(url: str | None = None, to: str = "head", before: Callable[[Engine, str, str], None] | None = None) -> None:
    """Migrate the database to the newest tables, or to those of the revision `to`.

    `before` is called with the engine and both revisions if existing tables have to change, while no other process can
    change them. Raises InputError if the tables are from a later version, or from before the first migration.
    """
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    newest = newest_revision()
    engine = make_engine(url)
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _let_tables_be_made_anew)
    with engine.connect().execution_options(write=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":  # it takes no lock at the start
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(728154)")
        current = MigrationContext.configure(connection).get_current_revision()
        if current is not None:
            _require_known(current)
        if before is not None and current is not None and current != newest:
            before(engine, current, newest)
        config.attributes["connection"] = connection
        command.upgrade(config, to)
    engine.dispose()
