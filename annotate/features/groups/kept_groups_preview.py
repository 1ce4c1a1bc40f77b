"""What would become of the groups that a project keeps, if the ones on the page Explore were its groups."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import Engine

from allpairs.annotate.features.groups.kept_groups import GroupDifference
from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import GroupEvent
from allpairs.db.groups.numbering import Change, Numbered, changes_by_number, renumbered
from allpairs.db.projects.stable_groups import group_id, grouped_items, highest_number, newest_update
from allpairs.db.schema.engine import reading

MOST_TEXTS = 100_000  # in groups, for which a page can wait
LARGEST = 20  # changes that are listed
NEW = "a new group"  # it gets its id once it is stored


@dataclass(frozen=True)
class GroupsPreview:
    """How many of the project's groups stay as they are, change and end; how many are new; and the largest changes."""

    same: int
    changed: int
    ended: int
    new: int
    largest: list[GroupDifference]


def update_to_preview(engine: Engine, project_id: int) -> int | None:
    """Return the id of the update that made the project's groups; None without groups, and for too many texts."""
    with reading(engine) as session:
        update = newest_update(session, project_id)
    return None if update is None or update.texts > MOST_TEXTS else update.id


def preview_groups(engine: Engine, project_id: int, items: np.ndarray, group: np.ndarray) -> GroupsPreview:
    """Return what becomes of the project's groups by these. items: (n,) int64; group: (n,) of each, -1 for none."""
    with reading(engine) as session:
        before = Numbered(*(np.array(column, dtype=np.int64) for column in grouped_items(session, project_id)))
        unused = highest_number(session, project_id) + 1
    inside = group >= 0
    group_changes = list(changes_by_number(before, renumbered(before, items[inside], group[inside], unused)))
    new_count = sum(change.event == GroupEvent.CREATED for change in group_changes)
    ended = sum(change.event == GroupEvent.ENDED for change in group_changes)
    of_before = sorted((change for change in group_changes if change.number < unused), key=_moved, reverse=True)
    same = len(np.unique(before.number)) - len(of_before)
    largest = [_became(change, unused) for change in of_before[:LARGEST]]
    return GroupsPreview(same, len(group_changes) - new_count - ended, ended, new_count, largest)


def _moved(change: Change) -> int:
    return len(change.items_added) + len(change.items_removed)


def _became(change: Change, unused: int) -> GroupDifference:
    return GroupDifference(
        group=group_id(change.number),
        event=change.event,
        before=change.before,
        size=change.size,
        added=len(change.items_added),
        removed=len(change.items_removed),
        from_groups=_named(change.from_groups, unused),
        to_groups=_named(change.to_groups, unused),
    )


def _named(numbers: Sequence[int], unused: int) -> list[str]:
    """Return the ids of these groups, and how many of them are new."""
    new = sum(number >= unused for number in numbers)
    old = [group_id(number) for number in numbers if number < unused]
    return [*old, *([NEW] if new == 1 else [f"{new:,} new groups"] if new else [])]


def preview_in_words(groups_preview: GroupsPreview) -> str:
    """Return how many groups become what."""
    old_groups = counted(groups_preview.same + groups_preview.changed + groups_preview.ended, "group")
    become = [
        f"{count:,} {singular if count == 1 else plural}"
        for count, singular, plural in (
            (groups_preview.same, "stays as it is", "stay as they are"),
            (groups_preview.changed, "changes", "change"),
            (groups_preview.ended, "ends", "end"),
        )
        if count
    ]
    new_groups = f"; {counted(groups_preview.new, 'new group')}" if groups_preview.new else ""
    return f"If these were the project's groups: of its {old_groups}, {', '.join(become)}{new_groups}."
