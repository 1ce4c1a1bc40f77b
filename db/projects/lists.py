"""The lists of a project as they came in: every row that stands, with every column, in the order of the file."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import NamedTuple

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.staging import ImportedList, Staging
from allpairs.db.domain import Side
from allpairs.db.projects.items import CHUNK, add_rows
from allpairs.db.schema.tables import ListRow, ListVersion


class WrittenRow(NamedTuple):
    """A row of a list: its place there, its id, and its cells in the order of the list's columns."""

    place: int
    external_id: str
    cells: list[str]


def current_list(session: Session, project_id: int, side: Side) -> ListVersion | None:
    """Return the newest version of a list, whose columns are those of its rows.

    None for a project that was created before rows were kept, or without a file: its list must be imported again.
    """
    query = select(ListVersion).where(ListVersion.project_id == project_id, ListVersion.side == side)
    return session.scalar(query.order_by(ListVersion.id.desc()).limit(1))


def rows_of_list(session: Session, project_id: int, side: Side) -> Iterator[WrittenRow]:
    """Yield the rows of a list that stand, in their order, a chunk at a time; none if they were not kept."""
    version = current_list(session, project_id, side)
    if version is None:
        return
    rows = session.execute(standing_rows(project_id, side), execution_options={"yield_per": CHUNK})
    for place, external_id, cells in rows:
        # A later version may have brought columns, which come last.
        yield WrittenRow(place, external_id, cells + [""] * (len(version.columns) - len(cells)))


def standing_rows(project_id: int, side: Side) -> Select[int, str, list[str]]:
    """Select place, id and cells of the rows of a list that stand."""
    conditions = (ListRow.project_id == project_id, ListRow.side == side, ListRow.ended_id.is_(None))
    return select(ListRow.place, ListRow.external_id, ListRow.cells).where(*conditions).order_by(ListRow.place)


def add_lists(session: Session, project_id: int, staged: Staging) -> None:
    """Store the files of a new project, with all of their rows."""
    for side, file in staged.lists.items():
        version = add_version(session, project_id, side, file)
        common = {"project_id": project_id, "side": side, "version_id": version.id}
        rows = enumerate(staged.rows_of(side))
        add_rows(
            session,
            ListRow,
            (common | {"place": place, "external_id": name, "cells": cells} for place, (name, cells) in rows),
        )


def add_version(session: Session, project_id: int, side: Side, file: ImportedList) -> ListVersion:
    """Store what a file was like; return it with its id."""
    version = ListVersion(
        project_id=project_id,
        side=side,
        file=file.file,
        columns=list(file.columns),
        id_column=file.id_column,
        compared=list(file.compared),
        format=asdict(file.format),
    )
    session.add(version)
    session.flush()
    return version
