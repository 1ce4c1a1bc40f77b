"""The lists of a project as they came in: every row that stands, with every column, in the order of the file."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import count, islice
from typing import NamedTuple

from sqlalchemy import Row, Select, delete, func, insert, literal, select, update
from sqlalchemy.orm import Session

from allpairs.db.corpus.staging import ImportedList, Staging
from allpairs.db.domain import Side
from allpairs.db.projects.items import CHUNK, add_rows, chunks
from allpairs.db.schema.tables import ListRow, ListVersion, TextChange


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
    yield from (_written(row, version) for row in rows)


def rows_at(session: Session, project_id: int, side: Side, places: Iterable[int]) -> list[WrittenRow]:
    """Return the rows of a list that stand at these places, in their order."""
    version = current_list(session, project_id, side)
    query = standing_rows(project_id, side)
    return [
        _written(row, version)
        for chunk in chunks(places)
        for row in session.execute(query.where(ListRow.place.in_(chunk)))
        if version is not None
    ]


def _written(row: Row[int, str, list[str]], version: ListVersion) -> WrittenRow:
    place, external_id, cells = row
    # A later version may have brought columns, which come last.
    return WrittenRow(place, external_id, cells + [""] * (len(version.columns) - len(cells)))


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


def copy_lists(session: Session, source: int, target: int) -> None:
    """Copy the rows that stand to another project, as the first version of its lists."""
    for side in Side:
        newest = current_list(session, source, side)
        if newest is not None:
            version = _again(newest, target)
            session.add(version)
            session.flush()
            rows = standing_rows(source, side).add_columns(literal(target), literal(side), literal(version.id))
            names = ["place", "external_id", "cells", "project_id", "side", "version_id"]
            session.execute(insert(ListRow).from_select(names, rows))


def change_list(
    session: Session, change: TextChange, side: Side, staged: Staging | None, spelt: Mapping[str, str]
) -> None:
    """Let the rows of a change's file stand in place of those with their ids; other columns keep their values.

    staged: the file; spelt: the project's spelling of its ids, where it differs. Where rows were not kept, or the file
    has none, nothing changes.
    """
    newest = current_list(session, change.project_id, side)
    if newest is None or staged is None or side not in staged.lists:
        return
    version = _again(newest, change.project_id)
    version.change_id = change.id
    version.file = staged.lists[side].file
    version.columns, places = side_by_side(newest, staged.lists[side])
    session.add(version)
    session.flush()
    for changed in _changed_rows(session, newest, version.columns, places, staged, spelt):
        _end(session, version, [row.external_id for row in changed])
        common = {"project_id": version.project_id, "side": side, "version_id": version.id}
        add_rows(session, ListRow, (common | row._asdict() for row in changed))


def rewrite_list(session: Session, change: TextChange, side: Side, staged: Staging, spelt: Mapping[str, str]) -> None:
    """Let the rows of a change's file stand in its order, with its columns, in place of all rows of the list."""
    newest = current_list(session, change.project_id, side)
    if newest is None:
        return
    version = add_version(session, change.project_id, side, staged.lists[side])
    version.change_id = change.id
    free_place = _free_place(session, newest)
    conditions = (ListRow.project_id == change.project_id, ListRow.side == side, ListRow.ended_id.is_(None))
    ended = update(ListRow).where(*conditions).values(ended_id=version.id)
    session.execute(ended.execution_options(synchronize_session=False))
    common = {"project_id": change.project_id, "side": side, "version_id": version.id}
    rows = (
        {"place": place, "external_id": spelt.get(name, name), "cells": cells}
        for place, (name, cells) in enumerate(staged.rows_of(side), free_place)
    )
    add_rows(session, ListRow, (common | row for row in rows))


def end_rows(session: Session, change: TextChange, side: Side, ids: Iterable[str]) -> None:
    """End the rows with these ids, which the change withdraws."""
    newest = current_list(session, change.project_id, side)
    if newest is not None:
        version = _again(newest, change.project_id)
        version.change_id = change.id
        session.add(version)
        session.flush()
        for chunk in chunks(ids):
            _end(session, version, chunk)


def undo_list_change(session: Session, change: TextChange) -> None:
    """Remove the rows that the change brought; those that it ended stand again."""
    session.execute(delete(ListVersion).where(ListVersion.change_id == change.id))


def count_changed_rows(
    session: Session, project_id: int, side: Side, staged: Staging, spelt: Mapping[str, str], ids: Collection[str]
) -> int:
    """Return how many of the rows with these ids would change by a file."""
    newest = current_list(session, project_id, side)
    if newest is None or side not in staged.lists:
        return 0
    columns, places = side_by_side(newest, staged.lists[side])
    changed = _changed_rows(session, newest, columns, places, staged, spelt)
    return sum(row.external_id in ids for chunk in changed for row in chunk)


def _changed_rows(
    session: Session,
    newest: ListVersion,
    columns: Sequence[str],
    places: Sequence[int],
    staged: Staging,
    spelt: Mapping[str, str],
) -> Iterator[list[WrittenRow]]:
    """Yield the rows of a file that differ from those of the list, or are new, a chunk at a time.

    columns: of the list with those of the file; places: of the file's columns among them.
    """
    query = standing_rows(newest.project_id, newest.side)
    next_place = count(_free_place(session, newest))
    rows = iter(staged.rows_of(newest.side))
    while chunk := list(islice(rows, CHUNK)):
        new_cells = {spelt.get(name, name): cells for name, cells in chunk}
        found_rows = session.execute(query.where(ListRow.external_id.in_(list(new_cells))))
        before = {row.external_id: row for row in map(WrittenRow._make, found_rows)}
        changed = list[WrittenRow]()
        for name, file_cells in new_cells.items():
            old = before.get(name)
            old_cells = old.cells if old else []
            cells = old_cells + [""] * (len(columns) - len(old_cells))
            for place, cell in zip(places, file_cells, strict=True):
                cells[place] = cell
            if old is None or cells != old_cells + [""] * (len(columns) - len(old_cells)):
                changed.append(WrittenRow(old.place if old else next(next_place), name, cells))
        yield changed


def side_by_side(newest: ListVersion, file: ImportedList) -> tuple[list[str], list[int]]:
    """Return the columns of a list and a file, and the place of each of the file's among them; new ones come last.

    The id's column and the compared ones belong together whatever their names are.
    """
    names = dict(zip(file.compared, newest.compared, strict=False)) | {file.id_column: newest.id_column}
    columns = list(newest.columns)
    places = []
    for name in file.columns:
        known_name = names.get(name) or name
        if known_name not in columns:
            columns.append(known_name)
        places.append(columns.index(known_name))
    return columns, places


def _free_place(session: Session, version: ListVersion) -> int:
    """Return a place behind all that rows of this list have had."""
    conditions = ListRow.project_id == version.project_id, ListRow.side == version.side
    return (session.scalar(select(func.max(ListRow.place)).where(*conditions)) or 0) + 1


def _again(version: ListVersion, project_id: int) -> ListVersion:
    """Return a version like this one, for more rows."""
    names = ("side", "file", "columns", "id_column", "compared", "format")
    return ListVersion(project_id=project_id, **{name: getattr(version, name) for name in names})


def _end(session: Session, version: ListVersion, ids: Sequence[str]) -> None:
    conditions = (ListRow.project_id == version.project_id, ListRow.side == version.side, ListRow.ended_id.is_(None))
    ended = update(ListRow).where(*conditions, ListRow.external_id.in_(ids)).values(ended_id=version.id)
    session.execute(ended.execution_options(synchronize_session=False))


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
