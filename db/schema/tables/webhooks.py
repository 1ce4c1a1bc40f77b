"""Webhooks, what they are told, and whether it arrived."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, OutsideText, now, of_project


class Webhook(Base):
    """An address of another system that is told what happens in a project."""

    __tablename__ = "webhooks"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    url: Mapped[str] = mapped_column(String(2000))
    kinds: Mapped[list[str]] = mapped_column(JSON)  # of the notices that it gets
    secret: Mapped[str] = mapped_column(String(80))  # not hashed: each message is signed with it
    active: Mapped[bool] = mapped_column(default=True)  # if not, it gets no new notices, and waiting ones wait
    made_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Notice(Base):
    """Something that happened and that webhooks tell, written in the transaction in which it happened."""

    __tablename__ = "notices"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    key: Mapped[str] = mapped_column(String(80), unique=True)  # the message's id, by which receivers drop repeats
    kind: Mapped[NoticeKind]
    body: Mapped[dict[str, Any]]  # the message, the same at each attempt
    created_at: Mapped[datetime] = mapped_column(default=now, index=True)


class Delivery(Base):
    """A notice on its way to one webhook."""

    __tablename__ = "deliveries"
    __table_args__ = (
        UniqueConstraint("notice_id", "webhook_id"),
        Index("ix_deliveries_due", "state", "next_at"),
        NUMBERS_ONCE,
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    notice_id: Mapped[int] = mapped_column(ForeignKey("notices.id", ondelete="CASCADE"))
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id", ondelete="CASCADE"), index=True)
    state: Mapped[DeliveryState] = mapped_column(default=DeliveryState.WAITING)
    attempts: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime] = mapped_column(default=now)  # of the next attempt; during one, when it counts as lost
    status: Mapped[int | None]  # the HTTP status of the last answer; empty: there was none
    error: Mapped[str | None] = mapped_column(OutsideText)  # of the last attempt
    delivered_at: Mapped[datetime | None]
