"""Texts of a project that exists: add, change and withdraw them from a file, and undo that. Each is one act."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import Field
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import project_for
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.api import ApiOutput
from allpairs.annotate.kit.jobs.requests import update_groups
from allpairs.db.corpus.cells import bad
from allpairs.db.corpus.corpus import Columns, read_items
from allpairs.db.corpus.files import read_rows
from allpairs.db.corpus.staging import Staging
from allpairs.db.domain import EventKind, Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.identity import same_id
from allpairs.db.labels.withdrawn import drop_withdrawn_tasks
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.events import add_event
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import person_of, reading
from allpairs.db.schema.tables import Person, Project, TextChange
from allpairs.db.texts.changes import changes_of, newest_text_change, store_change, undo_change
from allpairs.db.texts.plan import ChangeExample, TextPlan, plan_texts, plan_withdrawal, state_of
from allpairs.db.texts.versions import plan_version


class Act(StrEnum):
    """What a file of texts is for."""

    ADD = "add"
    WITHDRAW = "withdraw"
    REPLACE = "replace"  # the file is the whole list from now on


SENT = "records.jsonl"  # the name of a file that nobody uploaded
TITLES = {
    "new": "new ids with new texts",
    "equal": "new ids of texts that the project has",
    "changed": "ids with another text",
    "updated": "ids with the same text and other values in columns that are not compared",
    "same": "ids with the same text as before",
    "withdrawn": "withdrawn ids",
    "unknown": "ids that the project does not have",
}


@dataclass(frozen=True)
class TextFile:
    """A file of texts of one side. columns: None for the column `id` and those of the project's own files."""

    path: Path
    act: Act = Act.ADD
    side: Side = Side.LEFT
    columns: Columns | None = None


class TextsChanged(ApiOutput):
    """How many ids a request changes, by kind, and the number of the change that is stored."""

    new: int = Field(description="New ids with new texts.")
    equal: int = Field(description="New ids of texts that the project has, or had.")
    changed: int = Field(description="Ids with another text than before.")
    updated: int = Field(description="Ids with the same text, and other values in columns that are not compared.")
    same: int = Field(description="Ids with the same text and values as before.")
    withdrawn: int
    unknown: int = Field(description="Ids to withdraw that the project does not have.")
    notes: list[str]
    change: int | None = Field(description="Null if nothing was stored: a dry run, or nothing to change.")


class TextChangeDetails(ApiOutput):
    """A change of the project's texts."""

    number: int
    who: str = Field(description="Empty: somebody without sign-in.")
    source: str = Field(description="The name of the file; `records.jsonl` for records sent to this API.")
    added: int
    changed: int
    withdrawn: int
    at: datetime
    undone_at: datetime | None
    can_undo: bool = Field(False, description="Whether it is the newest change that stands.")


@dataclass(frozen=True)
class Outcome:
    """What a file changes, or has changed: identifiers by kind, examples of each, and what to know about the file.

    new, equal: new identifiers, of new texts and of texts that the project has; changed; same: those that name their
    text already; withdrawn; unknown: those that the project does not have. change: what was stored; None: nothing.
    changes_nothing: whether there was nothing to store.
    """

    counts: dict[str, int]
    examples: dict[str, list[ChangeExample]]
    notes: tuple[str, ...] = ()
    change: TextChangeDetails | None = None
    changes_nothing: bool = False

    @property
    def in_short(self) -> TextsChanged:
        """The counts, the notes and the number of the change."""
        return TextsChanged(**self.counts, notes=list(self.notes), change=self.change and self.change.number)


@contextmanager
def sent(rows: Sequence[Mapping[str, str]], act: Act, side: Side) -> Iterator[TextFile]:
    """Yield records with `id` and, to add, text columns as a file to read: so they are checked as every file is."""
    with TemporaryDirectory(prefix="allpairs-") as folder:
        path = Path(folder) / SENT
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        yield TextFile(path, act, side)


def preview_change(engine: Engine, project: str, source: TextFile, progress: Progress = no_progress) -> Outcome:
    """Return what the file would change. Raises InputError, one line with file, row and column, for a bad file."""
    with reading(engine) as session:
        stored_project = project_for(session, Right.CHANGE, project)
        entries, notes = _read(stored_project, source, progress)
        plan = _plan(session, stored_project, source, entries, progress)
    return Outcome(plan.counts, dict(plan.examples), notes, changes_nothing=plan.changes_nothing)


def apply(engine: Engine, project: str, source: TextFile, progress: Progress = no_progress) -> Outcome:
    """Store what the file changes, all of it or nothing; a file that changes nothing stores nothing.

    Then the groups are brought up to date, where the project's settings say so.
    Raises InputError as `preview_change` does, and if too few texts would be left for a pair.
    """
    with reading(engine) as session:  # comparing with every text must not block annotators
        stored_project = project_for(session, Right.CHANGE, project)
        entries, notes = _read(stored_project, source, progress)
        plan = _plan(session, stored_project, source, entries, progress)
    if plan.changes_nothing:
        return Outcome(plan.counts, dict(plan.examples), notes, changes_nothing=plan.changes_nothing)
    with acting(engine, Right.CHANGE, stored_project.id) as session:
        project_ = project_of(session, stored_project.id)
        if state_of(session, project_.id) != plan.state:  # somebody else has changed texts meanwhile
            plan = _plan(session, project_, source, entries, progress)
        person_name = _name(session, engine)
        rows = entries if isinstance(entries, Staging) else None
        change = store_change(session, project_, plan, person_name, source.path.name, rows)
        drop_withdrawn_tasks(session, project_.id)
        new = {name: getattr(change, name) for name in ("number", "added", "changed", "withdrawn")}
        add_event(session, person_of(engine), EventKind.TEXTS, project_.id, source.path.name, new=new)
        stored = _changed(change, True)
    update_groups(engine, stored_project.id)
    return Outcome(plan.counts, dict(plan.examples), notes, stored)


def undo_text_change(engine: Engine, project_id: int, number: int | None = None) -> TextChangeDetails:
    """Undo the project's newest change of texts that stands; return it. number: that it must have.

    Texts that it added are withdrawn again; answers on their pairs stay in the record. Raises InputError if there is no
    such change.
    """
    with acting(engine, Right.CHANGE, project_id) as session:
        project = project_of(session, project_id)
        newest = newest_text_change(session, project_id)
        if number is not None and (newest is None or newest.number != number):
            raise InputError(f"change {number} is not the newest one that stands: only that can be undone")
        change = undo_change(session, project)
        drop_withdrawn_tasks(session, project_id)
        add_event(
            session, person_of(engine), EventKind.TEXTS_BACK, project_id, change.source, old={"number": change.number}
        )
        undone = _changed(change, False)
    update_groups(engine, project_id)
    return undone


def list_changes(engine: Engine, project_id: int) -> list[TextChangeDetails]:
    """Return the last hundred changes of the project's texts, the newest first."""
    with reading(engine) as session:
        newest = newest_text_change(session, project_id)
        return [_changed(row, newest is not None and row.id == newest.id) for row in changes_of(session, project_id)]


def text_columns(engine: Engine, project_id: int, side: Side) -> tuple[str, ...]:
    """Return the names of the text columns that a file of this side must have."""
    with reading(engine) as session:
        return _names(project_of(session, project_id), side)


def _names(project: Project, side: Side) -> tuple[str, ...]:
    named = (project.text_columns or {}).get(side, ())
    return tuple(named) or ("text",)


def _read(project: Project, source: TextFile, progress: Progress) -> tuple[Staging | list[str], tuple[str, ...]]:
    if source.side == Side.RIGHT and project.kind == Kind.SYMMETRIC:
        raise InputError(f"{project.name!r} has one list: leave the side out")
    columns = source.columns or Columns("id", _names(project, source.side))
    if source.act == Act.WITHDRAW:
        return _identifiers(source.path, columns), ()
    if (several := len(_names(project, source.side))) > 1 and len(columns.texts) != several:
        names = ", ".join(_names(project, source.side))
        raise InputError(f"the texts of {project.name!r} have {several} columns: name a column for each of {names}")
    if several == 1 and len(columns.texts) > 1:
        raise InputError(f"the texts of {project.name!r} have one column: name one")
    notes: list[str] = []
    items = Staging(keeps_rows=True)
    read_items(items, source.path, source.side, columns, notes, progress=progress)
    return items, tuple(notes)


def _identifiers(path: Path, columns: Columns) -> list[str]:
    rows: dict[str, int] = {}
    for number, values in read_rows(path, (columns.id,), stated=columns.stated):
        name = values[0].strip()
        if not name:
            raise bad("the id is empty; give every row an id", path, number, columns.id)
        before = rows.setdefault(same_id(name), number)
        if before != number:
            raise bad(f"the id {name!r} is already in row {before}; remove one of the rows", path, number, columns.id)
    return list(rows)


def _plan(
    session: Session, project: Project, source: TextFile, entries: Staging | Sequence[str], progress: Progress
) -> TextPlan:
    if isinstance(entries, Staging):
        if source.act == Act.REPLACE:
            return plan_version(session, project.id, source.side, entries, progress)
        return plan_texts(session, project.id, source.side, entries, progress)
    return plan_withdrawal(session, project.id, source.side, entries)


def _name(session: Session, engine: Engine) -> str:
    person = person_of(engine)
    return "" if person is None else session.get_one(Person, person).name


def _changed(row: TextChange, can_undo: bool) -> TextChangeDetails:
    return TextChangeDetails.model_validate(row).model_copy(update={"can_undo": can_undo})
