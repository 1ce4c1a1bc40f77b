"""The groups of texts with their ids."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import Clustering, GroupEvent, Representative
from allpairs.db.schema.tables.base import NUMBERS_ONCE, Base, now, of_project


class GroupUpdate(Base):
    """An act that made the project's groups anew: by which model, from which score on, and how. Append-only."""

    __tablename__ = "group_updates"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    matcher: Mapped[int]  # its number; the row of a matcher may be replaced
    threshold: Mapped[float]
    p: Mapped[float | None]  # at the threshold, if the matcher has probabilities
    clustering: Mapped[Clustering]
    representative: Mapped[Representative]
    newest_by: Mapped[str] = mapped_column(Text)
    groups: Mapped[int]
    texts: Mapped[int]  # in groups
    created_at: Mapped[datetime] = mapped_column(default=now)

    @property
    def by_labels(self) -> bool:
        """Whether a model that was trained on labels made the groups."""
        return self.matcher > 0 and self.p is not None


class GroupChange(Base):
    """What an update made of one group. Append-only; ids ascend in the order in which transactions were committed."""

    __tablename__ = "group_changes"
    __table_args__ = (
        Index("ix_group_changes_cursor", "project_id", "id"),
        Index("ix_group_changes_group", "project_id", "number"),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    update_id: Mapped[int] = mapped_column(ForeignKey("group_updates.id", ondelete="CASCADE"), index=True)
    number: Mapped[int]  # of the group, from 1; never given to another one
    event: Mapped[GroupEvent]
    before: Mapped[int]  # its texts before; 0: it was made
    size: Mapped[int]  # its texts after; 0: it ended
    added: Mapped[int]
    removed: Mapped[int]
    # from_groups, to_groups: numbers of other groups; items_added, items_removed: [side, id]; the first of each only.
    details: Mapped[dict[str, Any]]


class GroupedItem(Base):
    """Which of the project's groups a text is in now; a text that is alone has no row."""

    __tablename__ = "grouped_items"
    __table_args__ = (Index("ix_grouped_items_group", "project_id", "number"),)
    item_id: Mapped[int] = mapped_column(
        ForeignKey("items.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    number: Mapped[int]


class GroupMove(Base):
    """A text that an act of people took from one of the project's groups to another: by these the act is undone."""

    __tablename__ = "group_moves"
    __table_args__ = (NUMBERS_ONCE,)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    item_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
    act: Mapped[str] = mapped_column(String(80), index=True)  # as in its decisions
    before: Mapped[int | None]  # number of the group; None: the text was alone
    after: Mapped[int | None]


class PairDecision(Base):
    """What somebody decided of two texts when they looked at a group: that they are the same, or are not.

    Unlike a label it stands for no sample. The newest decision on a pair that is not undone counts, over all models.
    """

    __tablename__ = "pair_decisions"
    __table_args__ = (Index("ix_pair_decisions_pair", "project_id", "left_id", "right_id"), NUMBERS_ONCE)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("projects.id", ondelete="CASCADE"))
    left_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
    right_id: Mapped[int] = mapped_column(ForeignKey("items.id", ondelete="CASCADE"), index=True)
    same: Mapped[bool]
    act: Mapped[str] = mapped_column(String(80), index=True)  # all pairs of one click have the same
    who: Mapped[str] = mapped_column(String(80))
    at: Mapped[datetime] = mapped_column(default=now)
    undone_at: Mapped[datetime | None]
