"""Upgrade the tables, after a back-up of all rows."""

from pathlib import Path

from sqlalchemy import Engine

from allpairs.db.files.private import private_files
from allpairs.db.maintenance.backup import backup
from allpairs.db.schema.engine import home, migrate
from allpairs.db.schema.tables import now


@private_files()
def upgrade(url: str | None = None) -> Path | None:
    """Upgrade the tables; return the back-up made before, in `ALLPAIRS_HOME/backups`, or None if nothing changed.

    Raises InputError if no migration leads from the tables to this version's, and OSError if the back-up cannot be
    written; then the tables have not changed.
    """
    backups: list[Path] = []

    def keep(engine: Engine, current_revision: str, newest: str) -> None:
        folder = home() / "backups"
        for part in folder.glob("*-before-*.db.part*"):  # of an upgrade that was killed: no other one is under way
            part.unlink(missing_ok=True)
        file = folder / f"{now():%Y-%m-%dT%H-%M-%S-%f}-before-{newest}-from-{current_revision}.db"
        backup(engine, file)
        backups.append(file)

    migrate(url, before=keep)
    return backups[0] if backups else None
