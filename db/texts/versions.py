"""A new version of a whole list: which of its rows are the list's, what it changes, and how it is stored."""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import blake2b
from itertools import count
from math import inf

from sqlalchemy import select, union
from sqlalchemy.orm import Session

from allpairs.db.corpus.staging import Staging
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.items import CHUNK
from allpairs.db.projects.lists import (
    change_list,
    current_list,
    end_rows,
    rewrite_list,
    rows_of_list,
    side_by_side,
)
from allpairs.db.schema.tables import Identifier, IdentifierChange, Item, ListRow, ListVersion, TextChange
from allpairs.db.texts.plan import Move, TextPlan, plan_texts


def new_rows(session: Session, project_id: int, side: Side) -> dict[str, int]:
    """Return the ids that the newest version of a list brought, and the item of each."""
    version = current_list(session, project_id, side)
    if version is None or version.change_id is None:
        return {}
    query = select(IdentifierChange.external_id, IdentifierChange.after_id).where(
        IdentifierChange.change_id == version.change_id, IdentifierChange.side == side
    )
    brought = query.where(IdentifierChange.before_id.is_(None), IdentifierChange.after_id.is_not(None))
    return dict(session.execute(brought).tuples().all())  # type: ignore[arg-type]


def new_texts(session: Session, project_id: int) -> set[int]:
    """Return the items of texts that the newest versions of the lists brought, and that no row had just before."""
    versions = [current_list(session, project_id, side) for side in Side]
    change_ids = [version.change_id for version in versions if version is not None]
    added = (TextChange.project_id == Item.project_id) & (TextChange.number == Item.added_in)
    query = select(Item.id).join(TextChange, added).where(Item.project_id == project_id, Item.withdrawn_at.is_(None))
    return set(session.scalars(query.where(TextChange.id.in_(change_ids))))


def plan_version(
    session: Session, project_id: int, side: Side, file: Staging, progress: Progress = no_progress
) -> TextPlan:
    """Return what it changes that a list becomes this file: ids that the file lacks are withdrawn.

    Raises InputError if the list's rows are not kept.
    """
    newest = current_list(session, project_id, side)
    if newest is None:
        raise InputError("the rows of this list are not kept: make a new project of the file")
    numbers = None if newest.id_column else row_numbers(session, newest, file)
    plan = plan_texts(session, project_id, side, file, progress, numbers)
    plan.whole = True
    names = [plan.spelt.get(name, name) for name, _ in file.rows_of(side)]
    listed = set(names)
    query = select(Identifier.external_id, Item.id, Item.text).join(Item, Item.id == Identifier.item_id)
    query = query.where(Identifier.project_id == project_id, Identifier.side == side).order_by(Identifier.item_id)
    for name, item, text in session.execute(query, execution_options={"yield_per": CHUNK}):
        if name not in listed:
            plan.moves.append(Move(name, item, None))
            plan.note("withdrawn", name, text)
    has_same_columns = list(file.lists[side].columns) == newest.columns
    plan.rewritten = not (has_same_columns and _is_ordered(session, newest, names))
    return plan


def row_numbers(session: Session, newest: ListVersion, file: Staging) -> dict[str, str]:
    """Return the number of each row of a file without ids: that of an equal row of the list, else a new one.

    Rows are equal in all columns that both have; after these, in the compared ones. No number is given again that
    another row has had.
    """
    project_id, side = newest.project_id, newest.side
    _, places = side_by_side(newest, file.lists[side])
    shared = [(place, file_place) for file_place, place in enumerate(places) if place < len(newest.columns)]
    compared = [pair for pair in shared if newest.columns[pair[0]] in newest.compared]
    numbers = dict[str, str]()
    taken = set[str]()
    for pairs in (shared, compared):
        left_over = defaultdict[bytes, deque[str]](deque)
        for row in rows_of_list(session, project_id, side):
            if row.external_id not in taken:
                left_over[_digest(row.cells, [place for place, _ in pairs])].append(row.external_id)
        for name, cells in file.rows_of(side):
            equal_rows = left_over.get(_digest(cells, [place for _, place in pairs]))
            if name not in numbers and equal_rows:
                numbers[name] = equal_rows.popleft()
                taken.add(numbers[name])
    unused = count(_highest_number(session, project_id, side) + 1)
    return {name: numbers.get(name) or str(next(unused)) for name, _ in file.rows_of(side)}


def replace_list(session: Session, change: TextChange, plan: TextPlan, file: Staging) -> None:
    """Let the file's rows be the list; where columns and order stay, only rows that differ are stored."""
    if plan.rewritten:
        rewrite_list(session, change, plan.side, file, plan.spelt)
        return
    change_list(session, change, plan.side, file, plan.spelt)
    end_rows(session, change, plan.side, [move.name for move in plan.moves if move.after is None])
    version = current_list(session, change.project_id, plan.side)
    if version is not None:
        version.format = asdict(file.lists[plan.side].format)


def _is_ordered(session: Session, newest: ListVersion, names: Iterable[str]) -> bool:
    """Return whether the list's rows among these are in its order, and the new ones behind them."""
    places = {row.external_id: row.place for row in rows_of_list(session, newest.project_id, newest.side)}
    last = -inf
    for name in names:
        place = places.get(name, inf)
        if place < last:
            return False
        last = place
    return True


def _highest_number(session: Session, project_id: int, side: Side) -> int:
    """Return the highest number that a row of the list has ever had; changes that were undone count, too."""
    tables = (ListRow, IdentifierChange, Identifier)
    names = union(
        *(select(table.external_id).where(table.project_id == project_id, table.side == side) for table in tables)
    )
    return max((int(name) for (name,) in session.execute(names) if name.isdecimal()), default=0)


def _digest(cells: Sequence[str], places: Sequence[int]) -> bytes:
    return blake2b("\0".join(cells[place] for place in places).encode(errors="surrogatepass"), digest_size=16).digest()
