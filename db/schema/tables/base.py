"""What all tables share: times, types of columns, and columns that name an owner."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Integer, String, Text, TypeDecorator
from sqlalchemy import DateTime as SqlDateTime
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from allpairs.db.domain import (
    AnswerKind,
    CheckKind,
    Clustering,
    DeliveryState,
    DesignKind,
    EventKind,
    GroupEvent,
    Kind,
    NoticeKind,
    PublicationKind,
    Purpose,
    Queue,
    Representative,
    Role,
    Side,
    Split,
    Verdict,
)
from allpairs.db.identity import without_unseen


def now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)


class Instant(TypeDecorator[datetime]):
    """An aware UTC time on every database (SQLite itself loses the zone)."""

    impl = SqlDateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.replace(tzinfo=UTC) if value is not None and value.tzinfo is None else value


class OutsideText(TypeDecorator[str]):
    """A text from outside, such as a receiver's error or a file's name: stored without signs that never show."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else without_unseen(value)


# SQLite would give the number of a deleted row to the next one. Pages, programs and files may still mean the old row.
NUMBERS_ONCE = {"sqlite_autoincrement": True}

COUNT_OF_PAIRS = BigInteger().with_variant(Integer, "sqlite")  # whose integers have 64 bits anyway


class Base(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012  (SQLAlchemy reads it so)
        dict[str, Any]: JSON,
        list[dict[str, Any]]: JSON,
        datetime: Instant,
        Kind: String(16),
        Side: String(8),
        Split: String(16),
        AnswerKind: String(16),
        Purpose: String(8),
        DesignKind: String(16),
        CheckKind: String(8),
        Queue: String(8),
        Role: String(16),
        EventKind: String(32),
        NoticeKind: String(32),
        DeliveryState: String(16),
        PublicationKind: String(8),
        Clustering: String(16),
        Representative: String(16),
        GroupEvent: String(16),
        Verdict: String(8),
    }


def of_project() -> Mapped[int]:
    """Return a column that names the owning project."""
    return mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)


def of_item() -> Mapped[int]:
    """Return a column that names an item; without its index, deleting a project would scan the table for every item."""
    return mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
