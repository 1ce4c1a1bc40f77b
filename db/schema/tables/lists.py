"""The rows of imported lists as they were written, of every column, also of those that nobody compares."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import Side
from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, now, of_project


class ListVersion(Base):
    """An import of one of a project's lists: the whole list, or a change of some of its texts."""

    __tablename__ = "list_versions"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    side: Mapped[Side]
    # The change of texts that it was; empty: the list came with the project.
    change_id: Mapped[int | None] = mapped_column(ForeignKey("text_changes.id", ondelete="CASCADE"), index=True)
    file: Mapped[str] = mapped_column(String(500))  # its name
    columns: Mapped[list[str]] = mapped_column(JSON)  # all names in the order of the file, the id's among them
    id_column: Mapped[str] = mapped_column(String(500))  # empty: the rows are numbered
    compared: Mapped[list[str]] = mapped_column(JSON)  # the names of the text columns
    format: Mapped[dict[str, Any]]  # how the file was written: suffix, separator, encoding, sheet
    created_at: Mapped[datetime] = mapped_column(default=now)


class ListRow(Base):
    """A row of a list. It stands from the version that brought it until the one that ended it."""

    __tablename__ = "list_rows"
    __table_args__ = (
        Index("ix_list_rows_place", "project_id", "side", "ended_id", "place"),
        Index("ix_list_rows_ids", "project_id", "side", "external_id"),
        NUMBERS_ONCE,
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    side: Mapped[Side]
    version_id: Mapped[int] = mapped_column(ForeignKey("list_versions.id", ondelete="CASCADE"), index=True)
    ended_id: Mapped[int | None] = mapped_column(ForeignKey("list_versions.id", ondelete="SET NULL"), index=True)
    place: Mapped[int]  # in the list, ascending
    external_id: Mapped[str] = mapped_column(String(500))
    cells: Mapped[list[str]] = mapped_column(JSON)  # in the order of the version's columns, as they were written
