"""Decisions on groups out and in: must-links and cannot-links as pairs of ids."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import project_for
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.corpus.cells import Ids, TableRow, bad, plain_label, present_columns, shown
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.corpus.table_files import write_table, writer_for
from allpairs.db.domain import Kind, Side
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import IMPORT, add_decisions, decided_pairs, standing_decisions
from allpairs.db.groups.links import Pair, TextLinks
from allpairs.db.groups.regroup import agree, with_groups_of
from allpairs.db.labels.answers import lock_answers
from allpairs.db.people.people import IMPORTED
from allpairs.db.projects.items import identifiers_of, items_by_identifier
from allpairs.db.projects.projects import project_named, project_of
from allpairs.db.schema.engine import reading

COLUMNS = {"id1": str, "id2": str, "same": int, "who": str, "at": str}
SAME = {"1": True, "true": True, "must link": True, "same": True} | {
    "0": False,
    "false": False,
    "cannot link": False,
    "different": False,
}
LONGEST_NAME = 80


def export_decisions(engine: Engine, project: str, path: Path) -> int:
    """Write the decisions that count to a CSV, JSON Lines or Parquet file; return the number of pairs of ids.

    Raises InputError if there is no such project or the file cannot be written.
    """
    writer_for(path)
    with reading(engine) as session:
        rows = list(links_of_project(session, project_named(session, project).id))
    return write_table(path, COLUMNS, rows)


class IdLink(NamedTuple):
    """A decision on a pair of ids. same: 1 (must link) or 0 (cannot link); at: when, in ISO format."""

    id1: str
    id2: str
    same: int
    who: str
    at: str


def links_of_project(session: Session, project_id: int) -> Iterator[IdLink]:
    """Yield the decisions that count, as pairs of ids. Equal texts have several ids."""
    decisions = standing_decisions(session, project_id)
    names = identifiers_of(session, {item for decision in decisions for item in decision.pair})
    for decision in decisions:
        for left in names.get(decision.left_id, []):
            for right in names.get(decision.right_id, []):
                yield IdLink(left, right, int(decision.same), decision.who, decision.at.isoformat(timespec="seconds"))


def import_decisions(engine: Engine, project: str, path: Path) -> int:
    """Store the decisions of a file with id1, id2, same (1 or 0) and optionally who; return how many.

    Groups follow at once. Raises InputError, and stores nothing, for the first row with a mistake, and for decisions
    that contradict each other or others that count.
    """
    names = column_names(path)
    columns = ("id1", "id2", "same", *present_columns(["who"], names, path.name))
    with reading(engine) as session:
        project_id = project_for(session, Right.CHANGE, project).id
    return store_links(engine, project_id, path, list(read_rows(path, columns, optional=("who",))))


def store_links(engine: Engine, project_id: int, path: Path, rows: Sequence[TableRow], who: str = IMPORTED) -> int:
    """Store the rows, of a file or as if of one, as decisions; return how many. Raises InputError as above."""
    with acting(engine, Right.CHANGE, project_id) as session:
        lock_answers(session, project_id)
        return _store(session, project_id, path, rows, who)


def _store(session: Session, project_id: int, path: Path, rows: Sequence[TableRow], who: str) -> int:
    decisions: dict[Pair, tuple[bool, str, int]] = {}
    ids = _ids(session, project_id)
    for row in rows:
        pair, same = _read(row, path, ids)
        if pair is None:
            continue
        if pair in decisions and decisions[pair][0] != same:
            raise bad(f"row {decisions[pair][2]} says the opposite of this pair; keep one", path, row.number, "same")
        name = row.values[3].strip()[:LONGEST_NAME] if len(row.values) > 3 else ""
        decisions[pair] = same, name or who, row.number
    if not decisions:
        return 0
    act = f"{IMPORT}-{uuid4().hex}"
    for name in dict.fromkeys(name for _, name, _ in decisions.values()):
        own = {pair: same for pair, (same, row_name, _) in decisions.items() if row_name == name}
        add_decisions(session, project_id, name, act, own)
    _require_sound(session, project_id, path, decisions)
    agree(session, project_id, act, with_groups_of(session, project_id, _items(decisions)))
    return len(decisions)


def _ids(session: Session, project_id: int) -> tuple[Ids, Ids]:
    """Return the items by id of both columns; they are of one list, or of two."""
    left = Ids(items_by_identifier(session, project_id, Side.LEFT))
    if project_of(session, project_id).kind == Kind.SYMMETRIC:
        return left, left
    return left, Ids(items_by_identifier(session, project_id, Side.RIGHT))


def _read(row: TableRow, path: Path, ids: tuple[Ids, Ids]) -> tuple[Pair | None, bool]:
    """Return the pair and whether its texts are the same; None for equal texts, which are one text already."""
    items = []
    for column, name, known in zip(("id1", "id2"), row.values[:2], ids, strict=True):
        item = known.get(name.strip())
        if item is None:
            raise bad(f"the project has no id {shown(name)}; correct it or remove the row", path, row.number, column)
        items.append(item)
    same = SAME.get(plain_label(row.values[2]))
    if same is None:
        problem = f"the decision is {shown(row.values[2])}; write 1 (must link) or 0 (cannot link)"
        raise bad(problem, path, row.number, "same")
    left, right = items
    if left == right:
        if not same:
            raise bad("both ids have the same text, so they cannot be kept apart", path, row.number, "id2")
        return None, True
    return ((min(left, right), max(left, right)) if ids[0] is ids[1] else (left, right)), same


def _require_sound(session: Session, project_id: int, path: Path, decisions: dict[Pair, tuple[bool, str, int]]) -> None:
    """Raise InputError if a chain of must-links joins what a cannot-link keeps apart."""
    standing = decided_pairs(session, project_id)
    wrong = TextLinks(standing).contradicted(standing)
    if not wrong:
        return
    left, right = next((pair for pair in wrong if pair in decisions), wrong[0])
    names = identifiers_of(session, [left, right])
    first, second = (shown(next(iter(names.get(item, ["a removed row"])))) for item in (left, right))
    raise InputError(
        f"{path.name}: {first} and {second} cannot be linked, but other decisions link both by a chain: remove the "
        "wrong one; nothing was stored"
    )


def _items(pairs: Iterable[Pair]) -> set[int]:
    return {item for pair in pairs for item in pair}
