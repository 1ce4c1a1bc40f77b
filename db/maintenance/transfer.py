"""A project's rows on their way out of a database and into another one, table by table and column by column.

Nothing here knows a column by name but ids: what a later version adds to a table comes along by itself.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice, pairwise
from typing import Any

from sqlalchemy import Column, Select, Table, insert, select, update
from sqlalchemy.orm import Session

from db.schema.tables import (
    Answer,
    ApiToken,
    Base,
    Check,
    CheckAnswer,
    Design,
    Evaluation,
    Event,
    FastAnswers,
    FastAnswersTask,
    Gold,
    Identifier,
    Instant,
    Invitation,
    Item,
    Job,
    Lease,
    Login,
    LoginAttempt,
    Matcher,
    Membership,
    PairLabel,
    Person,
    Project,
    Rating,
    Round,
    Study,
    StudyUnit,
    Task,
    Worker,
)

# Parents first.
_MOVED: tuple[type[Base], ...] = (
    Project, Item, Identifier, Gold, Matcher, Evaluation, Design, Round, Task, Answer,
    Study, StudyUnit, Rating, Event, Check, CheckAnswer, FastAnswers, FastAnswersTask,
)  # fmt: skip
# What archives of earlier versions of Allpairs do not have.
LATER = frozenset(
    model.__tablename__ for model in (Study, StudyUnit, Rating, Event, Check, CheckAnswer, FastAnswers, FastAnswersTask)
)
# Of this installation alone (accounts among it: answers keep their annotator's name), and labels, which follow from the
# answers.
_LEFT: tuple[type[Base], ...] = (
    Lease, Job, Worker, PairLabel, Person, Membership, Login, ApiToken, Invitation, LoginAttempt,
)  # fmt: skip
LEFT_BEHIND = frozenset({model.__tablename__ for model in _LEFT})
TABLES: dict[str, Table] = {model.__tablename__: Base.metadata.tables[model.__tablename__] for model in _MOVED}
CHUNK = 10_000  # rows in one statement

Row = dict[str, Any]


def project_rows(session: Session, table: Table, project_id: int) -> Iterator[Row]:
    """The project's rows of the table in the order of their ids, each value as JSON has it; constant memory."""
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
    return ordered.where(table.c.matcher_id.in_(select(Matcher.id).where(Matcher.project_id == project_id)))


class Numbering:
    """The new id of each id that a table's rows had: two ascending columns, 16 bytes a row."""

    def __init__(self) -> None:
        self.old, self.new = array("q"), array("q")

    def of(self, old: int) -> int:
        """The new id. Raises KeyError where no row had the old one."""
        place = bisect_left(self.old, old)
        if place == len(self.old) or self.old[place] != old:
            raise KeyError(f"no row has the id {old}")
        return self.new[place]

    def last(self, old: int) -> int:
        """The new id of the last row whose id was no greater; 0 where there is none."""
        place = bisect_right(self.old, old)
        return self.new[place - 1] if place else 0


class Arrival:
    """The rows of one project on their way in: every table is given once, in the order of TABLES."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.numbers: dict[str, Numbering] = {name: Numbering() for name, table in TABLES.items() if "id" in table.c}

    @property
    def project_id(self) -> int:
        """The new id of the project, once its row is there."""
        return self.numbers[Project.__tablename__].new[0]

    def begin(self, row: Row) -> None:
        """Nothing; the project's own row is stored."""
        table = TABLES[Project.__tablename__]
        columns = {name: _reader(column, self.numbers) for name, column in table.columns.items()}
        stored = self.session.execute(insert(table), _new(row, columns, True))
        self.numbers[table.name].old.append(row["id"])
        self.numbers[table.name].new.append(stored.inserted_primary_key[0])  # type: ignore[attr-defined]

    def add(self, table: Table, rows: Iterable[Row], changed: Callable[[list[Row]], list[Row]]) -> int:
        """The number of rows stored. changed: what becomes of some rows whose ids are the new ones.

        Columns that a row lacks get their default. Raises KeyError for rows that name what is not there.
        """
        stored, numbers = 0, self.numbers.get(table.name)
        columns = {name: _reader(column, self.numbers) for name, column in table.columns.items()}
        rows = iter(rows)
        while chunk := list(islice(rows, CHUNK)):
            if numbers is not None:
                numbers.old.extend(row["id"] for row in chunk)
            self.session.execute(insert(table), changed([_new(row, columns, numbers is not None) for row in chunk]))
            stored += len(chunk)
        if numbers is not None:
            numbers.new.extend(self._ids(table))
            if any(one >= other for one, other in pairwise(numbers.old)):
                raise ValueError("ids that do not ascend")
        return stored

    def _ids(self, table: Table) -> Iterator[int]:
        """The ids of the new rows: they ascend in the order in which the rows were given."""
        mine = select(table.c.id).where(table.c.project_id == self.project_id).order_by(table.c.id)
        return iter(self.session.scalars(mine.execution_options(yield_per=CHUNK)))

    def set_cutoffs(self) -> None:
        """Nothing; matchers name the answers by their new ids: no foreign key says that they do."""
        mine = select(Matcher.id, Matcher.cutoff).where(Matcher.project_id == self.project_id)
        for matcher_id, cutoff in self.session.execute(mine).all():
            new = self.numbers[Answer.__tablename__].last(cutoff)
            self.session.execute(update(Matcher).where(Matcher.id == matcher_id).values(cutoff=new))


def _new(row: Row, columns: Mapping[str, Callable[[Any], Any]], numbered: bool) -> Row:
    return {name: read(row[name]) for name, read in columns.items() if name in row and not (numbered and name == "id")}


def _reader(column: Column[Any], numbers: Mapping[str, Numbering]) -> Callable[[Any], Any]:
    """What turns a value of JSON into one of the column."""
    for key in column.foreign_keys:
        of = numbers[key.column.table.name].of
        return lambda value: None if value is None else of(value)
    if isinstance(column.type, Instant):
        return lambda value: None if value is None else datetime.fromisoformat(value)
    return lambda value: value


def lacking(table: Table, given: Iterable[str]) -> list[str]:
    """The columns that rows with these columns lack and that have no default."""
    given = set(given)
    needed = (c for c in table.columns if not c.nullable and c.default is None and c.server_default is None)
    return [column.name for column in needed if column.name not in given]
