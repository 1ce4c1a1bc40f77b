"""All rows of a database to one SQLite file and back: for back-ups, and to move from SQLite to PostgreSQL.

Rows are copied as they are: the tables of both sides are reflected from the databases, at the same revision, so that a
back-up can also be made before an upgrade.
"""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, DateTime, Engine, Integer, MetaData, delete, func, insert, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from allpairs.db.domain import DeliveryState
from allpairs.db.errors import InputError
from allpairs.db.maintenance.error_messages import fault_of
from allpairs.db.maintenance.in_use import require_stopped
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.jobs import OPEN
from allpairs.db.schema.engine import make_engine, migrate, reading, revision, writing
from allpairs.db.schema.tables import (
    ApiToken,
    Delivery,
    Job,
    Lease,
    Login,
    LoginAttempt,
    MachineRater,
    MatchServer,
    Webhook,
    Worker,
    now,
)

REVISIONS = "alembic_version"
CHUNK = 5_000  # rows in one statement
SECRETS = frozenset((MatchServer.__tablename__,))  # of live processes: never copied

Rows = dict[str, int]


def backup(engine: Engine, file: Path, progress: Progress = no_progress) -> Rows:
    """Copy all rows, as of one moment, to a new SQLite file; return the number of rows of each table.

    Labelling can go on meanwhile. Raises InputError if the file exists or the database has no tables.
    """
    if file.exists():
        raise InputError(f"{file}: this file exists already; name another one")
    current_revision = revision(engine)
    if current_revision is None:
        raise InputError(f"{engine.url}: the database has no tables yet, so there is nothing to back up")
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f"{file.name}.part")
    part.unlink(missing_ok=True)
    address = f"sqlite:///{part}"
    try:
        migrate(address, current_revision)
        with _opened(address) as target, reading(engine) as source, writing(target) as session:
            rows = _copy(source, session, progress)
        with closing(sqlite3.connect(part)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")  # one file, not three
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return rows


def restore(file: Path, engine: Engine, replace: bool, progress: Progress = no_progress) -> Rows:
    """Replace the database's rows by those of the back-up; return the number of rows of each table.

    A back-up with the tables of an earlier revision is upgraded. All rows are restored in one transaction, or none.
    Jobs that were waiting or running are cancelled, machine raters end, and webhooks are switched off. Raises
    InputError if the file is not a back-up, has rows that do not fit or tables that cannot be upgraded, if the database
    has projects and `replace` is false, and while a worker, or a process that answers `match`, is alive.
    """
    _check_file(file)
    migrate(engine.url.render_as_string(hide_password=False))
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "backup.db"
        shutil.copyfile(file, copied)
        address = f"sqlite:///{copied}"
        try:
            migrate(address)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
        with _opened(address) as old, _explained(file), reading(old) as source, writing(engine) as target:
            tables = _tables(target)
            projects = target.scalar(select(func.count()).select_from(tables.tables["projects"])) or 0
            if projects and not replace:
                raise InputError(f"the database has {projects} projects: add --replace to overwrite them")
            require_stopped(target)
            for table in reversed(tables.sorted_tables):
                target.execute(delete(table))
            rows = _copy(source, target, progress)
            _stop(target)
            _go_on_counting(target, tables)
    return rows


def _stop(session: Session) -> None:
    """End what was going on: nothing may be sent, and nobody let in, because of what a back-up says.

    Access that was withdrawn since must not return: people sign in again and make new tokens.
    """
    for model in (Lease, Worker, MatchServer, Login, ApiToken, LoginAttempt):
        session.execute(delete(model))
    over = {"state": "cancelled", "cancel": True, "updated_at": now()}
    session.execute(update(Job).where(Job.state.in_(OPEN)).values(over))
    session.execute(update(MachineRater).where(MachineRater.ended_at.is_(None)).values(ended_at=now()))
    session.execute(update(Webhook).values(active=False))
    undelivered = update(Delivery).where(Delivery.state == DeliveryState.WAITING)
    session.execute(undelivered.values(state=DeliveryState.GIVEN_UP, error="a back-up was restored"))


@contextmanager
def _explained(file: Path) -> Iterator[None]:
    """Turn the database's refusal of a row into a one-line error."""
    try:
        yield
    except DBAPIError as error:
        if fault_of(error):
            raise
        problem = "it has rows that do not fit the tables, and nothing was restored"
        raise InputError(f"{file}: {problem}: restore another back-up") from error


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise InputError(f"{file}: there is no such file; check the path")
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        try:
            damage = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (REVISIONS,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise InputError(f"{file}: this is not a back-up ({error})") from None
    if damage != "ok":
        raise InputError(f"{file}: the back-up is damaged ({damage})")
    if known is None:
        raise InputError(f"{file}: this is not a back-up of Allpairs: the table {REVISIONS} is missing")


@contextmanager
def _opened(url: str) -> Iterator[Engine]:
    engine = make_engine(url)
    yield engine
    engine.dispose()


def _tables(session: Session) -> MetaData:
    """Return the tables as they are in the database, without the one that names the revision."""
    tables = MetaData()
    tables.reflect(session.connection(), only=lambda name, _: name != REVISIONS)
    for table in tables.tables.values():
        for column in table.columns:
            if isinstance(column.type, JSON):
                column.type = JSON(none_as_null=True)  # an empty value stays SQL NULL instead of JSON null
    return tables


def _copy(source: Session, target: Session, progress: Progress) -> Rows:
    """Copy the rows of the source to the empty target, without secrets of processes; return the rows of each table."""
    tables = _tables(target)
    read = _tables(source)
    copied_tables = [table for table in tables.sorted_tables if table.name not in SECRETS]
    counts = {
        table.name: source.scalar(select(func.count()).select_from(read.tables[table.name])) or 0
        for table in copied_tables
    }
    copied = 0
    whole = max(1, sum(counts.values()))
    for table in copied_tables:
        target.execute(delete(table))  # the trigger on answers has already written labels
        names = table.columns.keys()
        times = [column.name for column in table.columns if isinstance(column.type, DateTime)]
        source_table = read.tables[table.name]
        rows = source.execute(select(*(source_table.c[name] for name in names)).execution_options(yield_per=CHUNK))
        for chunk in rows.mappings().partitions(CHUNK):
            target.execute(insert(table), [_in_utc(dict(row), times) for row in chunk])
            copied += len(chunk)
            progress(table.name, copied / whole)
    return counts


def _in_utc(row: dict[str, Any], times: list[str]) -> dict[str, Any]:
    """Return the row with aware times in UTC: SQLite has no time zones, and PostgreSQL would assume its own."""
    for name in times:
        value: datetime | None = row[name]
        if value is not None:
            row[name] = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return row


def _go_on_counting(session: Session, tables: MetaData) -> None:
    """Make new rows get ids above the copied ones: PostgreSQL has separate counters."""
    if session.connection().dialect.name != "postgresql":
        return
    for name, table in tables.tables.items():
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            counter = f"pg_get_serial_sequence('{name}', 'id')::regclass"
            session.execute(text(f"SELECT setval({counter}, coalesce(max(id), 1), max(id) IS NOT NULL) FROM {name}"))
