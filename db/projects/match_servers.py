"""The processes that answer `match`: where they listen, as they report it themselves."""

from datetime import timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from allpairs.db.projects.jobs import ALIVE
from allpairs.db.schema.tables import MatchServer, now

AHEAD = timedelta(seconds=5)  # by which the clocks of two machines may differ


def live_servers(session: Session) -> list[MatchServer]:
    """Return the processes that have reported in the last 15 seconds, the last one first; none from the future."""
    alive = select(MatchServer).where(MatchServer.seen_at.between(now() - ALIVE, now() + AHEAD))
    return list(session.scalars(alive.order_by(MatchServer.seen_at.desc())))


def report_server(session: Session, name: str, host: str, pid: int, address: str, secret: str) -> None:
    """Record that the process has just reported; address: `host:port` of this process as the app reaches it."""
    session.merge(MatchServer(name=name, host=host, pid=pid, address=address, secret=secret, seen_at=now()))


def remove_server(session: Session, name: str, pid: int) -> None:
    """Remove this process from the list, unless another one now has its name."""
    session.execute(delete(MatchServer).where(MatchServer.name == name, MatchServer.pid == pid))
