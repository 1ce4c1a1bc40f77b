"""The project's groups, and what has become of each."""

from allpairs.annotate.features.groups import schemas as m
from allpairs.annotate.features.groups.kept_groups import Told, read_changes, read_groups
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import ONE, Call, Operation
from allpairs.db.domain import Scope, Side
from allpairs.db.schema.tables import GroupUpdate


def groups(call: Call) -> m.Groups:
    """List the project's groups with their ids and texts, as the last search for matches made them."""
    asked = call.given
    only = None if asked.group is None else int(asked.group.removeprefix("g"))
    found = read_groups(call.engine, call.here.id, asked.cursor, asked.limit, only)
    return m.Groups(
        groups=[
            m.Group(id=one.id, texts=[m.GroupedText(side=Side(side), ids=ids) for side, ids in one.texts])
            for one in found.groups
        ],
        update=found.update and _group_update(found.update),
        cursor=found.cursor,
        more=only is None and len(found.groups) == asked.limit,
        changes_cursor=found.changes,
    )


def _group_update(row: GroupUpdate) -> m.GroupUpdate:
    return m.GroupUpdate(
        at=row.created_at,
        round=row.matcher,
        threshold=row.threshold,
        p=row.p,
        clustering=row.clustering,
        groups=row.groups,
        texts=row.texts,
    )


def group_changes(call: Call) -> m.GroupChanges:
    """List what became of the project's groups: made, joined, divided, ended, or with other texts."""
    found = read_changes(call.engine, call.here.id, call.given.cursor, call.given.limit)
    cursor = found[-1].cursor if found else call.given.cursor
    return m.GroupChanges(changes=[_change(one) for one in found], cursor=cursor, more=len(found) == call.given.limit)


def _change(told: Told) -> m.GroupChange:
    texts = {
        name: [m.NamedText(side=Side(side), id=id_) for side, id_ in getattr(told, name)]
        for name in ("texts_added", "texts_removed")
    }
    return m.GroupChange.model_validate(vars(told) | {"round": told.matcher} | texts)


OPERATIONS = (
    Operation("GET", f"{ONE}/groups", groups, m.Groups, Scope.READ, m.GroupsAfter, Right.SEE),
    Operation("GET", f"{ONE}/groups/changes", group_changes, m.GroupChanges, Scope.READ, m.ChangesAfter, Right.SEE),
)
