"""Groups of texts, and what has become of each."""

from datetime import datetime

from pydantic import Field

from allpairs.annotate.kit.api.schema import LARGEST, Asked, Given
from allpairs.db.domain import Clustering, GroupEvent, Side

MOST_GROUPS = 1_000


class GroupsAfter(Asked):
    """Where a page of groups starts, and how many it holds; or which group."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_GROUPS)
    group: str | None = Field(None, pattern=r"^g[1-9][0-9]{0,8}$", description="Only the group of this id.")


class GroupedText(Given):
    """A text in a group."""

    side: Side
    ids: list[str] = Field(description="Its ids in the imported files; identical texts of a list are one text.")


class Group(Given):
    """A group of two texts or more."""

    id: str = Field(description="It stays over rounds, and is never given to another group.")
    texts: list[GroupedText]


class GroupUpdate(Given):
    """How the groups were made."""

    at: datetime
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.")
    threshold: float
    p: float | None = Field(description="The model's probability at the threshold; null for the encoder.")
    clustering: Clustering
    groups: int
    texts: int = Field(description="Number of texts in groups.")


class Groups(Given):
    """A page of the project's groups, by the age of their ids."""

    groups: list[Group]
    update: GroupUpdate | None = Field(description="Null until somebody has found matches.")
    cursor: int = Field(description="Start of the next page.")
    more: bool = Field(description="Whether there may be more groups.")
    changes_cursor: int = Field(description="Read the changes from here on to keep these groups up to date.")


class ChangesAfter(Asked):
    """Where a page of changes starts, and how many it holds."""

    cursor: int = Field(0, ge=0, le=LARGEST, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(100, ge=1, le=MOST_GROUPS)


class NamedText(Given):
    """A text, under one of its ids."""

    side: Side
    id: str


class GroupChange(Given):
    """What became of one group. At most 20 groups and texts are named; the numbers count all."""

    cursor: int
    at: datetime
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.")
    group: str
    event: GroupEvent
    before: int = Field(description="Number of its texts before; 0: it was made.")
    size: int = Field(description="Number of its texts now; 0: it ended.")
    added: int
    removed: int
    from_groups: list[str] = Field(description="Other groups that added texts were in, the most frequent first.")
    to_groups: list[str] = Field(description="Other groups that removed texts are in now, the most frequent first.")
    texts_added: list[NamedText]
    texts_removed: list[NamedText]


class GroupChanges(Given):
    """A page of changes, in the order in which they happened."""

    changes: list[GroupChange]
    cursor: int = Field(description="Start of the next page. Used later, it finds what has changed since.")
    more: bool = Field(description="Whether there may be more changes now.")
