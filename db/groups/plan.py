"""What becomes of a project's groups when texts are put into other ones: planned as rows to store."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy.orm import Session

from allpairs.db.groups.numbering import Change, Numbered, changes_by_number, renumbered
from allpairs.db.projects.stable_groups import (
    Named,
    Planned,
    group_id,
    grouped_items,
    highest_number,
    names_of,
    newest_update,
)

MOST_NAMED = 20  # other groups, and ids, that a change names; the numbers beside them count all groups and texts


@dataclass(frozen=True)
class PlannedGroups:
    """The project's groups, and what is to be stored of them."""

    groups: Numbered
    plan: Planned

    def ids_of(self, items: Iterable[int]) -> list[str | None]:
        """Return the id of each text's group, None for a text that is alone."""
        number = dict(zip(self.groups.items.tolist(), self.groups.number.tolist(), strict=True))
        return [group_id(number[item]) if item in number else None for item in items]


def planned(session: Session, project_id: int, items: np.ndarray, group: np.ndarray) -> PlannedGroups:
    """Return what becomes of the project's groups if these texts are in these groups, under any names."""
    before = Numbered(*(np.array(column, dtype=np.int64) for column in grouped_items(session, project_id)))
    after = renumbered(before, items, group, highest_number(session, project_id) + 1)
    return plan_between(session, project_id, before, after)


def plan_between(session: Session, project_id: int, before: Numbered, after: Numbered) -> PlannedGroups:
    """Return the plan that makes groups of before, the project's or some of them, those of after."""
    last = newest_update(session, project_id)
    group_changes = list(changes_by_number(before, after))
    names = names_of(session, {item for change in group_changes for item in _shown(change)})
    rows = [_row(change, names) for change in group_changes]
    return PlannedGroups(after, Planned(last.id if last else 0, rows, *_moved(before, after)))


def _shown(change: Change) -> Iterator[int]:
    yield from change.items_added[:MOST_NAMED]
    yield from change.items_removed[:MOST_NAMED]


def _row(change: Change, names: dict[int, list[Named]]) -> dict[str, Any]:
    return {
        "number": change.number,
        "event": change.event,
        "before": change.before,
        "size": change.size,
        "added": len(change.items_added),
        "removed": len(change.items_removed),
        "details": {
            "from_groups": change.from_groups[:MOST_NAMED],
            "to_groups": change.to_groups[:MOST_NAMED],
            "items_added": _named(change.items_added, names),
            "items_removed": _named(change.items_removed, names),
        },
    }


def _named(items: list[int], names: dict[int, list[Named]]) -> list[Named]:
    """Return the first ids of these texts, all ids of a text before those of the next."""
    return [name for item in items[:MOST_NAMED] for name in names.get(item, [])][:MOST_NAMED]


def _moved(before: Numbered, after: Numbered) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the texts that left their group, and those that joined another one with its number."""
    same = np.isin(after.items, before.items)
    same[same] = before.number[np.searchsorted(before.items, after.items[same])] == after.number[same]
    left: list[int] = np.setdiff1d(before.items, after.items[same], assume_unique=True).tolist()
    return left, list(zip(after.items[~same].tolist(), after.number[~same].tolist(), strict=True))
