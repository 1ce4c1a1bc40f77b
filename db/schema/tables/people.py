"""People, what they may do, how they sign in, and what they changed."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import EventKind, Role
from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, OutsideText, now, of_project


class Person(Base):
    """A person with an account. Never removed: answers carry the name, so nobody else may get it."""

    __tablename__ = "people"
    __table_args__ = (UniqueConstraint("issuer", "subject"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    folded: Mapped[str] = mapped_column(String(400), unique=True)  # the name without regard to case or form
    password: Mapped[str | None] = mapped_column(Text)  # argon2id with its parameters; empty: no sign-in by password
    issuer: Mapped[str | None] = mapped_column(String(500))  # OpenID Connect provider of the person, and
    subject: Mapped[str | None] = mapped_column(String(255))  # their id there
    administrator: Mapped[bool] = mapped_column(default=False)  # of the whole installation, so of every project
    disabled_at: Mapped[datetime | None]
    changed_at: Mapped[datetime] = mapped_column(default=now)  # when their rights last changed, which ends open pages
    created_at: Mapped[datetime] = mapped_column(default=now)


class Membership(Base):
    """A person's role in a project."""

    __tablename__ = "memberships"
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True, index=True)
    role: Mapped[Role]


class Login(Base):
    """A browser in which somebody is signed in. Only the browser has the token; stored here is its SHA-256."""

    __tablename__ = "logins"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    previous: Mapped[str | None] = mapped_column(String(64), index=True)  # valid for a minute after the rotation
    ticket_of: Mapped[str | None] = mapped_column(String(64))  # while it is a ticket: the browser that may redeem it
    created_at: Mapped[datetime]
    rotated_at: Mapped[datetime]
    seen_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class ApiToken(Base):
    """A program's token for the REST API, in place of a login. Stored as SHA-256."""

    __tablename__ = "api_tokens"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    purpose: Mapped[str] = mapped_column(String(80))  # what it is for, in the person's own words
    scopes: Mapped[list[str]] = mapped_column(JSON)  # what it lets a program do, within its person's role
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]


class Invitation(Base):
    """A link that lets one person join a project, once. Its token is stored as SHA-256."""

    __tablename__ = "invitations"
    id: Mapped[int] = mapped_column(primary_key=True)
    token: Mapped[str] = mapped_column(String(64), unique=True)
    project_id: Mapped[int] = of_project()
    role: Mapped[Role]
    made_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))  # empty: command line
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    used_at: Mapped[datetime | None]


class LoginAttempt(Base):
    """An attempt to sign in that failed or is being checked. In the database, so that all app processes share it."""

    __tablename__ = "login_attempts"
    __table_args__ = (
        Index("ix_login_attempts_name", "name", "at"),
        Index("ix_login_attempts_address", "address", "at"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(400))
    address: Mapped[str] = mapped_column(String(100))
    at: Mapped[datetime]


class Event(Base):
    """A change to a project, or without one to the installation. Append-only; answers are their own history."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int | None] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), index=True)
    who: Mapped[str] = mapped_column(String(80))  # empty: the command line, or an app without sign-in
    kind: Mapped[EventKind]
    about: Mapped[str] = mapped_column(OutsideText)  # whom or what: a person's name, a file's, a project's
    old: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    new: Mapped[Any | None] = mapped_column(JSON(none_as_null=True))
    at: Mapped[datetime] = mapped_column(default=now)
