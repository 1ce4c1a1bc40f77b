"""Jobs, and the processes that do them or answer requests."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import Queue
from allpairs.db.schema.tables.base import Base, OutsideText, now, of_project


class Job(Base):
    """The progress of a job. DBOS owns the job itself; this row is what pages show of it."""

    __tablename__ = "jobs"
    id: Mapped[str] = mapped_column(String(80), primary_key=True)  # the DBOS workflow id
    project_id: Mapped[int] = of_project()
    kind: Mapped[str] = mapped_column(String(40))
    state: Mapped[str] = mapped_column(String(16), default="waiting")  # waiting, running, done, failed, cancelled
    stage: Mapped[str] = mapped_column(default="")
    fraction: Mapped[float] = mapped_column(default=0.0)
    seconds_left: Mapped[float | None]
    cancel: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str | None] = mapped_column(OutsideText)
    traceback: Mapped[str | None] = mapped_column(OutsideText)
    created_at: Mapped[datetime] = mapped_column(default=now)
    updated_at: Mapped[datetime] = mapped_column(default=now)


class Worker(Base):
    """A worker process and when it last reported."""

    __tablename__ = "workers"
    executor_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    host: Mapped[str]
    pid: Mapped[int]
    device: Mapped[str]
    queue: Mapped[Queue | None]  # whose jobs it takes; empty while it starts
    seen_at: Mapped[datetime] = mapped_column(default=now)


class MatchServer(Base):
    """A process that answers `match`: where it listens, and when it last reported."""

    __tablename__ = "match_servers"
    name: Mapped[str] = mapped_column(String(80), primary_key=True)
    host: Mapped[str]  # the machine
    pid: Mapped[int]
    address: Mapped[str]  # that the app reaches it at: host:port
    secret: Mapped[str] = mapped_column(String(64))  # what a request has to show; new at each start
    seen_at: Mapped[datetime] = mapped_column(default=now)
