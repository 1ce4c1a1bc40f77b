"""A project's rows out of one database and into another, table by table and column by column.

No column but ids is known by name here, so columns added by a later version are transferred, too.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice, pairwise
from typing import Any

from sqlalchemy import Column, Select, Table, insert, select, update
from sqlalchemy.orm import Session

from allpairs.db.schema.tables import (
    Answer,
    ApiToken,
    Base,
    Check,
    CheckAnswer,
    Delivery,
    Design,
    Evaluation,
    Event,
    FastAnswers,
    FastAnswersTask,
    Gold,
    GroupChange,
    GroupedItem,
    GroupMove,
    GroupUpdate,
    Identifier,
    IdentifierChange,
    Instant,
    Invitation,
    Item,
    Job,
    Lease,
    ListRow,
    ListVersion,
    Login,
    LoginAttempt,
    MachineRater,
    MatchServer,
    Membership,
    Notice,
    PairDecision,
    PairLabel,
    PairVerdict,
    Person,
    Project,
    Publication,
    Rating,
    Round,
    ShadowCounts,
    StoredModel,
    Study,
    StudyUnit,
    Task,
    TextChange,
    Webhook,
    Worker,
)

# Parents first.
_MOVED: tuple[type[Base], ...] = (
    Project,
    Item,
    Identifier,
    TextChange,
    IdentifierChange,
    ListVersion,
    ListRow,
    Gold,
    StoredModel,
    Evaluation,
    Publication,
    ShadowCounts,
    Design,
    Round,
    Task,
    Answer,
    Study,
    StudyUnit,
    Rating,
    Event,
    Check,
    CheckAnswer,
    FastAnswers,
    FastAnswersTask,
    GroupUpdate,
    GroupChange,
    GroupedItem,
    GroupMove,
    PairDecision,
    MachineRater,
    PairVerdict,
)
# Tables of this installation only (accounts among them: answers keep the annotator's name; webhooks, which hold
# secrets), and labels, which follow from the answers.
_LEFT: tuple[type[Base], ...] = (
    Lease,
    Job,
    Worker,
    MatchServer,
    PairLabel,
    Person,
    Membership,
    Login,
    ApiToken,
    Invitation,
    LoginAttempt,
    Webhook,
    Notice,
    Delivery,
)
LEFT_BEHIND = frozenset({model.__tablename__ for model in _LEFT})
MAPPED: dict[str, type[Base]] = {model.__tablename__: model for model in _MOVED}
TABLES: dict[str, Table] = {name: Base.metadata.tables[name] for name in MAPPED}
CHUNK = 10_000  # rows in one statement

Row = dict[str, Any]


def project_rows(session: Session, table: Table, project_id: int) -> Iterator[Row]:
    """Yield the project's rows of the table in order of id, each value as in JSON; constant memory."""
    names = table.columns.keys()
    times = [name for name in names if isinstance(table.c[name].type, Instant)]
    for row in session.execute(_of_project(table, project_id).execution_options(yield_per=CHUNK)):
        values = dict(zip(names, row, strict=True))
        for name in times:
            values[name] = values[name] and values[name].isoformat()
        yield values


def _of_project(table: Table, project_id: int) -> Select[Any]:
    if table.name == Project.__tablename__:
        return select(table).where(table.c.id == project_id)
    ordered = select(table).order_by(*table.primary_key.columns)
    if "project_id" in table.c:
        return ordered.where(table.c.project_id == project_id)
    return ordered.where(table.c.matcher_id.in_(select(StoredModel.id).where(StoredModel.project_id == project_id)))


class Numbering:
    """The new id of each old id of a table: two ascending columns, 16 bytes a row."""

    def __init__(self) -> None:
        self.old = array("q")
        self.new = array("q")

    def of(self, old: int) -> int:
        """Return the new id. Raises KeyError if no row had the old one."""
        place = bisect_left(self.old, old)
        if place == len(self.old) or self.old[place] != old:
            raise KeyError(f"no row has the id {old}")
        return self.new[place]

    def last(self, old: int) -> int:
        """Return the new id of the last row with an id up to `old`; 0 if there is none."""
        place = bisect_right(self.old, old)
        return self.new[place - 1] if place else 0


class Arrival:
    """The rows of one project on their way in: every table is added once, in the order of TABLES."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.numbers: dict[str, Numbering] = {name: Numbering() for name, table in TABLES.items() if "id" in table.c}

    @property
    def project_id(self) -> int:
        """The new id of the project, once its row is stored."""
        return self.numbers[Project.__tablename__].new[0]

    def begin(self, row: Row) -> None:
        """Store the project's own row."""
        table = TABLES[Project.__tablename__]
        columns = {name: _reader(column, self.numbers) for name, column in table.columns.items()}
        stored = self.session.execute(insert(table), _new(row, columns, True))
        self.numbers[table.name].old.append(row["id"])
        self.numbers[table.name].new.append(stored.inserted_primary_key[0])  # type: ignore[attr-defined]

    def add(self, table: Table, rows: Iterable[Row], changed: Callable[[list[Row]], list[Row]]) -> int:
        """Store the rows; return their number. changed: edits rows that already have the new ids.

        Columns that a row lacks get their default. Raises KeyError for rows that reference missing rows.
        """
        stored = 0
        numbers = self.numbers.get(table.name)
        columns = {name: _reader(column, self.numbers) for name, column in table.columns.items()}
        rows = iter(rows)
        while chunk := list(islice(rows, CHUNK)):
            if numbers is not None:
                numbers.old.extend(row["id"] for row in chunk)
            self.session.execute(insert(table), changed([_new(row, columns, numbers is not None) for row in chunk]))
            stored += len(chunk)
        if numbers is not None:
            numbers.new.extend(self._ids(table))
            if any(number >= next_number for number, next_number in pairwise(numbers.old)):
                raise ValueError("ids that do not ascend")
        return stored

    def _ids(self, table: Table) -> Iterator[int]:
        """Return the ids of the new rows, which ascend in the order of insertion."""
        query = select(table.c.id).where(table.c.project_id == self.project_id).order_by(table.c.id)
        return iter(self.session.scalars(query.execution_options(yield_per=CHUNK)))

    def set_cutoffs(self) -> None:
        """Update the answers that matchers name to their new ids: no foreign key does."""
        query = select(StoredModel.id, StoredModel.cutoff).where(StoredModel.project_id == self.project_id)
        for matcher_id, cutoff in self.session.execute(query).all():
            new = self.numbers[Answer.__tablename__].last(cutoff)
            self.session.execute(update(StoredModel).where(StoredModel.id == matcher_id).values(cutoff=new))


def _new(row: Row, columns: Mapping[str, Callable[[Any], Any]], numbered: bool) -> Row:
    return {name: read(row[name]) for name, read in columns.items() if name in row and not (numbered and name == "id")}


def _reader(column: Column[Any], numbers: Mapping[str, Numbering]) -> Callable[[Any], Any]:
    """Return a function that converts a JSON value to the column's type."""
    for key in column.foreign_keys:
        new_id = numbers[key.column.table.name].of
        return lambda value: None if value is None else new_id(value)
    if isinstance(column.type, Instant):
        return lambda value: None if value is None else datetime.fromisoformat(value).astimezone(UTC)
    return lambda value: value


def lacking(table: Table, column_names: Iterable[str]) -> list[str]:
    """Return the required columns that are missing from the given ones."""
    column_names = set(column_names)
    needed = (c for c in table.columns if not c.nullable and c.default is None and c.server_default is None)
    return [column.name for column in needed if column.name not in column_names]
