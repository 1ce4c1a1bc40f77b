"""Which processes work on the database now, by what they report themselves."""

from sqlalchemy.orm import Session

from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import live_workers
from allpairs.db.projects.match_servers import live_servers


def processes(session: Session) -> list[str]:
    """Return the workers, and the processes that answer `match`, that have reported in the last 15 seconds."""
    workers = [f"worker {row.executor_id} (process {row.pid} on {row.host})" for row in live_workers(session)]
    servers = [f"serve-model {row.name} (process {row.pid} on {row.host})" for row in live_servers(session)]
    return [*workers, *servers]


def require_stopped(session: Session) -> None:
    """Raise InputError while a worker, which every running app has, or a process that answers `match` is alive."""
    if alive := processes(session):
        problem = f"the database is in use by {', '.join(alive)}"
        raise InputError(f"{problem}: stop the app and its workers; a process that was killed counts for 15 seconds")
