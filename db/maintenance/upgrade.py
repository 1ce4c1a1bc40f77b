"""Bringing the tables up to date, with a back-up of all rows before anything changes."""

from pathlib import Path

from sqlalchemy import Engine

from db.maintenance.backup import backup
from db.schema.engine import home, migrate
from db.schema.tables import now


def upgrade(url: str | None = None) -> Path | None:
    """The back-up that was made first, below `ALLPAIRS_HOME/backups`; nothing where the tables need no change.

    Raises InputError where the tables are those of a later version, OSError where the back-up cannot be written: the
    tables are then as they were.
    """
    made: list[Path] = []

    def keep(engine: Engine, at: str, newest: str) -> None:
        file = home() / "backups" / f"{now():%Y-%m-%dT%H-%M-%S}-before-{newest}-from-{at}.db"
        backup(engine, file)
        made.append(file)

    migrate(url, before=keep)
    return made[0] if made else None
