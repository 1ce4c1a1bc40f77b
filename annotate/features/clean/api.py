"""The operation `clean_list`: a project's list without its doubles, page by page."""

from itertools import islice
from typing import Literal

from pydantic import Field

from allpairs.annotate.features.clean.project_list import CleanRulesInput, reading_list
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import CONFLICT, LARGEST_INTEGER, PROJECT_PATH, ApiOutput, Call, Operation
from allpairs.db.domain import Scope
from allpairs.learner.light.clean.files import clean_tables


class CleanPageRequest(CleanRulesInput):
    """Which of the three tables, by which rules, and where a page of it starts."""

    table: Literal["clean", "marked", "changes"] = Field(
        "clean", description="The clean list, all rows, or what changed."
    )
    cursor: int = Field(0, ge=0, le=LARGEST_INTEGER, description="The cursor of the previous page; 0: the first page.")
    limit: int = Field(1_000, ge=1, le=10_000)


class CleanPage(ApiOutput):
    """Rows of a table, in the order of the list, and what became of the whole list."""

    columns: list[str]
    rows: list[list[str]] = Field(description="The cells of each row, as they came.")
    cursor: int = Field(description="Start of the next page.")
    more: bool = Field(description="Whether there may be more rows.")
    list_rows: int = Field(description="Number of rows of the list.")
    clean_rows: int = Field(description="Number of rows of the clean list.")
    notes: list[str] = Field(description="How the column of the newest row was read.")


def clean_list(call: Call, request: CleanPageRequest) -> CleanPage:
    """List a project's rows without their doubles, all of them with their groups, or what changed."""
    with reading_list(call.engine, call.project_id, request) as project_list:
        plan = project_list.plan
        columns, rows = clean_tables(project_list.rows, plan)[request.table]
        page = [list(row) for row in islice(rows(), request.cursor, request.cursor + request.limit)]
    return CleanPage(
        columns=list(columns),
        rows=page,
        cursor=request.cursor + len(page),
        more=len(page) == request.limit,
        list_rows=plan.rows,
        clean_rows=plan.clean_rows,
        notes=list(plan.notes),
    )


OPERATIONS = (
    Operation("GET", f"{PROJECT_PATH}/clean", clean_list, Scope.READ, Right.CHANGE, problems=CONFLICT, slow=True),
)
