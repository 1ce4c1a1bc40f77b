"""The groups that a project keeps, with ids that stay: read page by page, and what changed, in words."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine

from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import GroupEvent
from allpairs.db.projects.items import identifiers_of
from allpairs.db.projects.stable_groups import (
    Named,
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


@dataclass(frozen=True)
class KeptGroup:
    """A group with its texts: the side and all imported ids of each."""

    id: str
    texts: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class KeptGroups:
    """A page of groups; cursor: where the next one starts; changes: id of the last change that they contain."""

    groups: list[KeptGroup]
    update: GroupUpdate | None
    cursor: int
    changes: int


def read_groups(engine: Engine, project_id: int, after: int, limit: int, only: int | None = None) -> KeptGroups:
    """Return the first groups whose numbers are above `after`, or only the one of a number, as of one moment.

    Withdrawn texts are left out, though the groups lose them only in their next update.
    """
    with reading(engine) as session:
        if only is not None:
            texts_by_group = texts_in_groups(session, project_id, [only])
        else:
            texts_by_group = page_of_groups(session, project_id, after, limit)
        texts = [text for group in texts_by_group.values() for text in group]
        ids = identifiers_of(session, texts)
        sides = sides_of(session, texts)
        groups = [
            KeptGroup(group_id(number), [(sides[text], ids[text]) for text in group if text in ids])
            for number, group in texts_by_group.items()
        ]
        update = newest_update(session, project_id)
        changes = newest_change(session, project_id)
    return KeptGroups(groups, update, max(texts_by_group, default=after), changes)


@dataclass(frozen=True)
class Became:
    """What becomes of one group: how many texts it has before and after, and gains and loses; and ids of groups."""

    group: str
    event: GroupEvent
    before: int
    size: int
    added: int
    removed: int
    from_groups: list[str]
    to_groups: list[str]


@dataclass(frozen=True)
class Told(Became):
    """What an update made of one group; ids of groups and of texts, only the first of each.

    cursor: the change's place in the record.
    """

    cursor: int
    at: datetime
    matcher: int
    texts_added: list[Named]
    texts_removed: list[Named]


def read_changes(engine: Engine, project_id: int, cursor: int, limit: int) -> list[Told]:
    """Return the first changes after the cursor, in the order in which they were stored."""
    with reading(engine) as session:
        return _told(changes_after(session, project_id, cursor, limit))


def _told(rows: Sequence[tuple[GroupChange, GroupUpdate]]) -> list[Told]:
    return [
        Told(
            cursor=change.id,
            at=update.created_at,
            matcher=update.matcher,
            group=group_id(change.number),
            event=GroupEvent(change.event),
            before=change.before,
            size=change.size,
            added=change.added,
            removed=change.removed,
            from_groups=list(map(group_id, change.details["from_groups"])),
            to_groups=list(map(group_id, change.details["to_groups"])),
            texts_added=[(side, name) for side, name in change.details["items_added"]],
            texts_removed=[(side, name) for side, name in change.details["items_removed"]],
        )
        for change, update in rows
    ]


@dataclass(frozen=True)
class News:
    """The act that made the groups, and the last changes, the newest first."""

    update: GroupUpdate
    changes: list[Told]


def read_news(engine: Engine, project_id: int, limit: int) -> News | None:
    """Return the project's groups in short; None if it keeps none yet."""
    with reading(engine) as session:
        update = newest_update(session, project_id)
        return None if update is None else News(update, _told(newest_changes(session, project_id, limit)))


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


def change_in_words(change: Became) -> str:
    """Return what became of the group, after its id."""
    match change.event:
        case GroupEvent.MADE:
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


def _sizes(change: Became) -> str:
    if change.before == change.size:
        return f": {change.added:,} of {counted(change.size, 'text')} are others"
    return f": {change.before:,} → {counted(change.size, 'text')}"


def _listed(begin: str, names: list[str], most: int = 5) -> str:
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return f"{begin} {', '.join([*names[:most], *more])}" if names else ""
