"""A project's list without its doubles: by its rows as they came, and the groups that it keeps."""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import Field
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.annotate.features.groups.confirmed import sure_groups
from allpairs.annotate.kit.api import ApiInput
from allpairs.db.corpus.files import FileFormat
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.projects.lists import current_list, rows_of_list
from allpairs.db.projects.stable_groups import group_id
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import GroupedItem, Identifier, ListRow
from allpairs.db.texts.versions import new_rows
from allpairs.learner.light.clean.files import TABLES, write_clean_list, write_new_rows
from allpairs.learner.light.clean.plan import CleanPlan, ListedRow, RowGroup, Rows, plan_clean_list
from allpairs.learner.light.clean.rules import CleanRules, KeepRule, read_cell_rules, read_sources

NO_LIST = (
    "the rows of this project's list are not kept: it was made by an earlier version, or from texts alone. Make a new "
    "project of the file, and import the labels there"
)


class CleanRulesInput(ApiInput):
    """Which row of a group stays, and where its cells come from."""

    side: Side = Field(Side.LEFT, description="Of two lists, which one.")
    keep: KeepRule = Field(
        KeepRule.COMPLETE,
        description="The row of a group that stays: with the most filled cells, the newest, the first, or a source's.",
    )
    newest_by: str = Field("", max_length=500, description="Column in which the newest row has the largest value.")
    sources: str = Field(
        "", max_length=5_000, description="Column of sources, and these, best first: `source=shop,web`."
    )
    columns: str = Field(
        "{}", max_length=100_000, description='Rules of columns as JSON, such as `{"phone": "joined", "*": "first"}`.'
    )

    def rules(self) -> CleanRules:
        """Return them as rules. Raises InputError."""
        try:
            assignments = json.loads(self.columns)
        except ValueError:
            assignments = None
        if not isinstance(assignments, Mapping):
            raise InputError('the rules of columns are no JSON object: write {"phone": "joined"}')
        cells = read_cell_rules(f"{column}={rule}" for column, rule in assignments.items())
        return CleanRules(self.keep, self.newest_by, *read_sources(self.sources), cells=cells)


@dataclass(frozen=True)
class ListOfProject:
    """A project's list, while it is read: file: its name when it came; rows: anew at each call.

    new_ids: reads those that the newest version brought.
    """

    file: str
    format: FileFormat
    plan: CleanPlan
    rows: Rows
    new_ids: Callable[[], Collection[str]]


@contextmanager
def reading_list(engine: Engine, project_id: int, choices: CleanRulesInput) -> Iterator[ListOfProject]:
    """Read a project's list with what becomes of its rows, all as of one moment.

    Raises InputError if its rows are not kept, and for rules that do not fit it.
    """
    with reading(engine) as session:
        version = current_list(session, project_id, choices.side)
        if version is None:
            raise InputError(NO_LIST)

        def rows() -> Iterator[ListedRow]:
            return (ListedRow(*row) for row in rows_of_list(session, project_id, choices.side))

        groups = groups_of_rows(session, project_id, choices.side)
        plan = plan_clean_list(rows, version.columns, groups, choices.rules())
        new_ids = partial(new_rows, session, project_id, choices.side)
        yield ListOfProject(version.file, FileFormat(**version.format), plan, rows, new_ids)


def write_project_list(
    engine: Engine, project_id: int, choices: CleanRulesInput, out: Path, tables: Sequence[str] = TABLES
) -> list[str]:
    """Write the clean list of a project, the list marked, and what changed, or these tables; return notes for people.

    Raises InputError as `reading_list`, and for what the files cannot hold.
    """
    with reading_list(engine, project_id, choices) as project_list:
        notes = write_clean_list(out, project_list.rows, project_list.plan, project_list.format, tables)
        return [*project_list.plan.notes, *notes]


def write_new_list(engine: Engine, project_id: int, choices: CleanRulesInput, out: Path) -> list[str]:
    """Write the rows that the newest version of a project's list brought; return notes. Raises InputError."""
    with reading_list(engine, project_id, choices) as project_list:
        ids = project_list.new_ids()
        return write_new_rows(out, project_list.rows, project_list.plan, project_list.format, ids)


def groups_of_rows(session: Session, project_id: int, side: Side) -> dict[int, RowGroup]:
    """Return the group of each row of a list by its place; rows of equal texts are always in one."""
    several = select(Identifier.item_id).where(Identifier.project_id == project_id, Identifier.side == side)
    several = several.group_by(Identifier.item_id).having(func.count() > 1)
    query = (
        select(ListRow.place, Identifier.item_id, GroupedItem.number)
        .join(
            Identifier,
            (Identifier.project_id == ListRow.project_id)
            & (Identifier.side == ListRow.side)
            & (Identifier.external_id == ListRow.external_id),
        )
        .outerjoin(GroupedItem, GroupedItem.item_id == Identifier.item_id)
        .where(ListRow.project_id == project_id, ListRow.side == side, ListRow.ended_id.is_(None))
        .where(GroupedItem.number.is_not(None) | Identifier.item_id.in_(several))
        .order_by(ListRow.place)
    )
    sure = sure_groups(session, project_id)
    return {
        place: RowGroup(f"equal{item}", 1.0) if number is None else RowGroup(group_id(number), sure.get(number))
        for place, item, number in session.execute(query)
    }
