"""The groups that a project keeps, with ids that stay: read page by page, and what changed, in words."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field
from sqlalchemy import Engine

from allpairs.annotate.kit.api import ApiOutput
from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import Clustering, GroupEvent, Side
from allpairs.db.projects.items import identifiers_of
from allpairs.db.projects.stable_groups import (
    changes_after,
    group_id,
    group_ids_of,
    newest_change,
    newest_changes,
    newest_update,
    page_of_groups,
    sides_of,
    texts_in_groups,
)
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import GroupChange, GroupUpdate


class GroupedText(ApiOutput):
    """A text in a group."""

    side: Side
    ids: list[str] = Field(description="Its ids in the imported files; identical texts of a list are one text.")


class KeptGroup(ApiOutput):
    """A group of two texts or more."""

    id: str = Field(description="It stays over rounds, and is never given to another group.")
    texts: list[GroupedText]


class KeptGroupUpdate(ApiOutput):
    """How the groups were made."""

    at: datetime = Field(validation_alias="created_at")
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.", validation_alias="matcher")
    threshold: float
    p: float | None = Field(description="The model's probability at the threshold; null for the encoder.")
    clustering: Clustering
    groups: int
    texts: int = Field(description="Number of texts in groups.")


class KeptGroupPage(ApiOutput):
    """A page of the project's groups, by the age of their ids."""

    groups: list[KeptGroup]
    update: KeptGroupUpdate | None = Field(description="Null until somebody has found matches.")
    cursor: int = Field(description="Start of the next page.")
    more: bool = Field(description="Whether there may be more groups.")
    changes_cursor: int = Field(description="Read the changes from here on to keep these groups up to date.")


def read_groups(engine: Engine, project_id: int, cursor: int, limit: int, number: int | None = None) -> KeptGroupPage:
    """Return the first groups whose numbers are above the cursor, or only the one of a number, as of one moment.

    Withdrawn texts are left out, though the groups lose them only in their next update.
    """
    with reading(engine) as session:
        if number is not None:
            texts_by_group = texts_in_groups(session, project_id, [number])
        else:
            texts_by_group = page_of_groups(session, project_id, cursor, limit)
        texts = [text for group in texts_by_group.values() for text in group]
        ids = identifiers_of(session, texts)
        sides = sides_of(session, texts)
        groups = [
            KeptGroup(
                id=group_id(group_number),
                texts=[GroupedText(side=Side(sides[text]), ids=ids[text]) for text in group if text in ids],
            )
            for group_number, group in texts_by_group.items()
        ]
        return KeptGroupPage(
            groups=groups,
            update=newest_update(session, project_id),
            cursor=max(texts_by_group, default=cursor),
            more=number is None and len(groups) == limit,
            changes_cursor=newest_change(session, project_id),
        )


class GroupDifference(ApiOutput):
    """What becomes of one group: how many texts it has before and after, gains and loses; and other groups."""

    group: str
    event: GroupEvent
    before: int = Field(description="Number of its texts before; 0: it was made.")
    size: int = Field(description="Number of its texts now; 0: it ended.")
    added: int
    removed: int
    from_groups: list[str] = Field(description="Other groups that added texts were in, the most frequent first.")
    to_groups: list[str] = Field(description="Other groups that removed texts are in now, the most frequent first.")


class NamedText(ApiOutput):
    """A text, under one of its ids."""

    side: Side
    id: str


class KeptGroupChange(GroupDifference):
    """What became of one group. At most 20 groups and texts are named; the numbers count all."""

    cursor: int
    at: datetime
    round: int = Field(description="The round of the model; 0: the pre-trained encoder.")
    texts_added: list[NamedText]
    texts_removed: list[NamedText]


def read_changes(engine: Engine, project_id: int, cursor: int, limit: int) -> list[KeptGroupChange]:
    """Return the first changes after the cursor, in the order in which they were stored."""
    with reading(engine) as session:
        return _kept_group_changes(changes_after(session, project_id, cursor, limit))


def _kept_group_changes(rows: Sequence[tuple[GroupChange, GroupUpdate]]) -> list[KeptGroupChange]:
    return [
        KeptGroupChange(
            cursor=change.id,
            at=update.created_at,
            round=update.matcher,
            group=group_id(change.number),
            event=GroupEvent(change.event),
            before=change.before,
            size=change.size,
            added=change.added,
            removed=change.removed,
            from_groups=list(map(group_id, change.details["from_groups"])),
            to_groups=list(map(group_id, change.details["to_groups"])),
            texts_added=[NamedText(side=Side(side), id=id_) for side, id_ in change.details["items_added"]],
            texts_removed=[NamedText(side=Side(side), id=id_) for side, id_ in change.details["items_removed"]],
        )
        for change, update in rows
    ]


@dataclass(frozen=True)
class News:
    """The act that made the groups, and the last changes, the newest first."""

    update: GroupUpdate
    changes: list[KeptGroupChange]


def read_news(engine: Engine, project_id: int, limit: int) -> News | None:
    """Return the project's groups in short; None if it keeps none yet."""
    with reading(engine) as session:
        update = newest_update(session, project_id)
        return None if update is None else News(update, _kept_group_changes(newest_changes(session, project_id, limit)))


def kept_ids(engine: Engine, project_id: int, items: Collection[int]) -> dict[int, str]:
    """Return the id of each text's kept group, where it has one."""
    with reading(engine) as session:
        return group_ids_of(session, project_id, items)


def ids_in_words(items: Collection[int], ids: dict[int, str], most: int = 3) -> str:
    """Return under which ids these texts are kept; empty if under none."""
    count = Counter(ids[item] for item in items if item in ids)
    if len(count) == 1 and count.total() == len(items):
        return next(iter(count))
    named = [f"{name} ({counted(texts, 'text')})" for name, texts in count.most_common(most)]
    more = [f"{len(count) - most:,} more"] if len(count) > most else []
    return ", ".join([*named, *more])


def change_in_words(change: GroupDifference) -> str:
    """Return what became of the group, after its id."""
    match change.event:
        case GroupEvent.CREATED:
            return f"made of {counted(change.size, 'text')}" + _listed(", divided from", change.from_groups)
        case GroupEvent.ENDED:
            return "ended" + (_listed("; its texts are in", change.to_groups) or "; its texts are alone")
        case GroupEvent.JOINED:
            return f"joined by{_listed('', change.from_groups)}{_sizes(change)}"
        case GroupEvent.DIVIDED:
            return f"divided; texts went to{_listed('', change.to_groups)}{_sizes(change)}"
        case GroupEvent.GROWN:
            return f"grew{_sizes(change)}" + _listed(", with texts of", change.from_groups)
        case GroupEvent.SHRUNK:
            return f"shrank{_sizes(change)}" + _listed("; texts went to", change.to_groups)
        case GroupEvent.CHANGED:
            return f"changed{_sizes(change)}"


def _sizes(change: GroupDifference) -> str:
    if change.before == change.size:
        return f": {change.added:,} of {counted(change.size, 'text')} are others"
    return f": {change.before:,} → {counted(change.size, 'text')}"


def _listed(begin: str, names: list[str], most: int = 5) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return f"{begin} {', '.join([*names[:most], *more])}" if names else ""
