"""Operations of the project's groups, and what has become of each."""

from datetime import datetime
from pathlib import Path

from pydantic import Field

from allpairs.annotate.features.groups.decision_files import links_of_project, store_links
from allpairs.annotate.features.groups.kept_groups import KeptGroupChange, KeptGroupPage, read_changes, read_groups
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import CONFLICT, PROJECT_PATH, ApiInput, ApiOutput, Call, Operation, PageRequest
from allpairs.db.corpus.cells import TableRow
from allpairs.db.domain import Scope
from allpairs.db.schema.engine import reading


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


class LinkDetails(ApiInput):
    """What somebody decided of two ids: they must be linked, or cannot be."""

    id1: str = Field(max_length=500)
    id2: str = Field(max_length=500)
    same: bool = Field(description="True: must link. False: cannot link.")


class LinksRequest(ApiInput):
    """Decisions to store, all or none."""

    decisions: list[LinkDetails] = Field(max_length=10_000)


class StoredLink(ApiOutput):
    """A decision that counts."""

    id1: str
    id2: str
    same: bool
    who: str
    at: datetime


class StoredLinks(ApiOutput):
    """All decisions that count, in the order in which they were made."""

    decisions: list[StoredLink]


class LinksReceipt(ApiOutput):
    """How many pairs of texts were decided of."""

    stored: int


def decisions(call: Call) -> StoredLinks:
    """List what people decided of pairs when they looked at groups. It counts over all models."""
    with reading(call.engine) as session:
        links = [StoredLink.model_validate(link._asdict()) for link in links_of_project(session, call.project_id)]
    return StoredLinks(decisions=links)


def decide(call: Call, request: LinksRequest) -> LinksReceipt:
    """Store must-links and cannot-links. The project's groups follow at once."""
    rows = [
        TableRow(number, (link.id1, link.id2, str(int(link.same)))) for number, link in enumerate(request.decisions, 1)
    ]
    stored = store_links(call.engine, call.project_id, Path("decisions"), rows, call.annotator)
    return LinksReceipt(stored=stored)


DECISIONS = f"{PROJECT_PATH}/decisions"
OPERATIONS = (
    Operation("GET", DECISIONS, decisions, Scope.READ, Right.CHANGE),
    Operation("POST", DECISIONS, decide, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("GET", f"{PROJECT_PATH}/groups", groups, Scope.READ, Right.SEE),
    Operation("GET", f"{PROJECT_PATH}/groups/changes", group_changes, Scope.READ, Right.SEE),
)
