"""Changes of a project's texts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from allpairs.annotate.kit.api.schema import STORED, Asked, Given, Number
from allpairs.db.corpus.cells import MAX_CELL
from allpairs.db.corpus.corpus import MAX_ID
from allpairs.db.domain import Side

MOST_TEXTS = 5_000


Id = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=STORED)]
Value = Annotated[str, Field(max_length=MAX_CELL, pattern=STORED)]


class TextRecord(Asked):
    """A text, or a record, under its id."""

    id: Id
    text: Value | dict[str, Value] = Field(description="A text, or the values of a record's text columns by name.")


class TextsAsked(Asked):
    """What both changes of texts say besides."""

    side: Side = Field(Side.LEFT, description="The list of the texts, if the project has two.")
    dry_run: bool = Field(False, description="Store nothing; only count what would change.")


class Texts(TextsAsked):
    """Texts to add and change, as one change."""

    texts: list[TextRecord] = Field(
        min_length=1, max_length=MOST_TEXTS, description="An id that the project has gets this text."
    )


class Withdrawal(TextsAsked):
    """Ids to withdraw, as one change."""

    ids: list[Id] = Field(min_length=1, max_length=MOST_TEXTS)


class TextsChanged(Given):
    """How many ids a request changes, by kind, and the number of the change that is stored."""

    new: int = Field(description="New ids with new texts.")
    equal: int = Field(description="New ids of texts that the project has, or had.")
    changed: int = Field(description="Ids with another text than before.")
    same: int = Field(description="Ids with the same text as before.")
    withdrawn: int
    unknown: int = Field(description="Ids to withdraw that the project does not have.")
    notes: list[str]
    change: int | None = Field(description="Null if nothing was stored: a dry run, or nothing to change.")


class TextChange(Given):
    """A change of the project's texts."""

    number: int
    who: str = Field(description="Empty: somebody without sign-in.")
    source: str = Field(description="The name of the file; `records.jsonl` for records sent to this API.")
    added: int
    changed: int
    withdrawn: int
    at: datetime
    undone_at: datetime | None
    can_undo: bool = Field(description="Whether it is the newest change that stands.")


class TextChanges(Given):
    """The last changes of the project's texts, the newest first."""

    changes: list[TextChange]


class TextUndo(Asked):
    """The change to undo; with its number nobody undoes another one than they have seen."""

    number: Number | None = Field(None, description="Its number; null: whichever is the newest that stands.")
