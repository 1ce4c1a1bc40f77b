"""Projects, their texts, and the known pairs of these."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String, Text, UniqueConstraint, text
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import Kind, Side, Split
from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, now, of_project


class Project(Base):
    __tablename__ = "projects"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[Kind]
    settings: Mapped[dict[str, Any]]
    # The names of each side's text columns: {"left": [...], "right": [...]}. Empty if no file had more than one.
    text_columns: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    created_at: Mapped[datetime] = mapped_column(default=now)
    archived_at: Mapped[datetime | None]  # since then it is hidden from lists, and no job runs for it
    deleted_at: Mapped[datetime | None]  # since then it is in the bin


class Item(Base):
    """One text. Identical texts are one item with several identifiers, and the columns of the first one."""

    __tablename__ = "items"
    __table_args__ = (
        Index("ix_items_counted", "project_id", "side", "split"),  # counting reads no texts
        Index(
            "ix_items_withdrawn",
            "project_id",
            sqlite_where=text("withdrawn_at IS NOT NULL"),
            postgresql_where=text("withdrawn_at IS NOT NULL"),
        ),  # few of very many texts are withdrawn
        Index(
            "ix_items_added",
            "project_id",
            "added_in",
            sqlite_where=text("added_in IS NOT NULL"),
            postgresql_where=text("added_in IS NOT NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    side: Mapped[Side]
    split: Mapped[Split]
    text: Mapped[str] = mapped_column(Text)
    # How many characters of the text each column's value has (`db/corpus/fields.py`); empty if there is one column.
    field_lengths: Mapped[list[int] | None] = mapped_column(JSON(none_as_null=True))
    # Number of the change that brought the text, the last one if it came back; empty: it came with the project.
    added_in: Mapped[int | None]
    withdrawn_at: Mapped[datetime | None]  # since then no identifier names it


class Identifier(Base):
    """An item's id from the imported file."""

    __tablename__ = "identifiers"
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    side: Mapped[Side] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(String(500), primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)


class TextChange(Base):
    """An act that added, changed or withdrew texts of a project. Only the newest one that stands can be undone."""

    __tablename__ = "text_changes"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # from 1
    who: Mapped[str] = mapped_column(String(80))  # as in an event
    source: Mapped[str] = mapped_column(String(500))  # the file's name
    added: Mapped[int]  # identifiers that are new
    changed: Mapped[int]  # identifiers that name another text since
    withdrawn: Mapped[int]  # identifiers that name no text since
    measuring: Mapped[int]  # texts for evaluation that came or went
    at: Mapped[datetime] = mapped_column(default=now)
    undone_at: Mapped[datetime | None]


class IdentifierChange(Base):
    """What an identifier named before a change of texts, and after it."""

    __tablename__ = "identifier_changes"
    change_id: Mapped[int] = mapped_column(ForeignKey("text_changes.id", ondelete="CASCADE"), primary_key=True)
    side: Mapped[Side] = mapped_column(primary_key=True)
    external_id: Mapped[str] = mapped_column(String(500), primary_key=True)
    project_id: Mapped[int] = of_project()
    before_id: Mapped[int | None] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
    after_id: Mapped[int | None] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)


class Gold(Base):
    """A known answer that came with the data, or follows from it by transitive closure."""

    __tablename__ = "gold"
    __table_args__ = (Index("ix_gold_drawn", "project_id", "positive", "left_id", "right_id"),)
    left_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), primary_key=True)
    right_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), primary_key=True, index=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    positive: Mapped[bool]
    closure: Mapped[bool] = mapped_column(default=False)
