"""Operations of the project's groups, and what has become of each."""

from pydantic import Field

from allpairs.annotate.features.groups.kept_groups import KeptGroupChange, KeptGroupPage, read_changes, read_groups
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import PROJECT_PATH, ApiOutput, Call, Operation, PageRequest
from allpairs.db.domain import Scope


class GroupPageRequest(PageRequest):
    """Where a page of groups starts, and how many it holds; or which group."""

    group: str | None = Field(None, pattern=r"^g[1-9][0-9]{0,8}$", description="Only the group of this id.")


class KeptGroupChangePage(ApiOutput):
    """A page of changes, in the order in which they happened."""

    changes: list[KeptGroupChange]
    cursor: int = Field(description="Start of the next page. Used later, it finds what has changed since.")
    more: bool = Field(description="Whether there may be more changes now.")


def groups(call: Call, request: GroupPageRequest) -> KeptGroupPage:
    """List the project's groups with their ids and texts, as the last search for matches made them."""
    number = None if request.group is None else int(request.group.removeprefix("g"))
    return read_groups(call.engine, call.project_id, request.cursor, request.limit, number)


def group_changes(call: Call, request: PageRequest) -> KeptGroupChangePage:
    """List what became of the project's groups: made, joined, divided, ended, or with other texts."""
    changes = read_changes(call.engine, call.project_id, request.cursor, request.limit)
    cursor = changes[-1].cursor if changes else request.cursor
    return KeptGroupChangePage(changes=changes, cursor=cursor, more=len(changes) == request.limit)


OPERATIONS = (
    Operation("GET", f"{PROJECT_PATH}/groups", groups, Scope.READ, Right.SEE),
    Operation("GET", f"{PROJECT_PATH}/groups/changes", group_changes, Scope.READ, Right.SEE),
)
