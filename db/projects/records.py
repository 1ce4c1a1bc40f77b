"""Items as a page shows them: their texts, and the columns of two of them side by side."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.corpus.fields import Aligned, aligned, joined_values
from allpairs.db.domain import Side, Split
from allpairs.db.errors import InputError
from allpairs.db.projects.items import chunks
from allpairs.db.schema.tables import Item, Project

Rows = tuple[tuple[str, str, str], ...]  # (column, left value, right value)


@dataclass(frozen=True)
class Records:
    """The texts and splits of some items, by id."""

    texts: Mapping[int, str]
    splits: Mapping[int, Split]
    _columns: Sequence[Aligned]
    _lengths: Mapping[int, Sequence[int] | None]

    def rows(self, left_id: int, right_id: int) -> Rows:
        """Return the pair's columns side by side, without rows that are empty; none if the files had no columns."""
        if not self._columns:
            return ()
        left, right = (joined_values(self.texts[id_], self._lengths[id_]) for id_ in (left_id, right_id))
        rows = (
            (name, _at(left, left_place), _at(right, right_place)) for name, left_place, right_place in self._columns
        )
        return tuple(row for row in rows if row[1] or row[2])


def _at(values: Sequence[str], place: int | None) -> str:
    return "" if place is None or place >= len(values) else values[place]


def project_columns(session: Session, project_id: int) -> list[str]:
    """Return the names of the project's text columns; none if its texts have only one."""
    return [column.name for column in aligned_columns(session, project_id)]


def require_column(session: Session, project_id: int, name: str) -> None:
    """Raise InputError unless the project has this text column, or the name is empty."""
    names = project_columns(session, project_id)
    if name and name not in names:
        raise InputError(f"the project has no text column {name!r}: use {', '.join(names) or 'another representative'}")


def values_in_column(session: Session, project_id: int, item_ids: Iterable[int], name: str) -> dict[int, str]:
    """Return the value of each of these items in the text column of this name, "" for none."""
    column = next(column for column in aligned_columns(session, project_id) if column.name == name)
    query = select(Item.id, Item.side, Item.text, Item.field_lengths)
    return {
        id_: _at(joined_values(text, lengths), column.left if side == Side.LEFT else column.right)
        for chunk in chunks(item_ids)
        for id_, side, text, lengths in session.execute(query.where(Item.id.in_(chunk)))
    }


def aligned_columns(session: Session, project_id: int) -> list[Aligned]:
    """Return the text columns of both lists side by side; none if the texts have only one."""
    named = session.scalar(select(Project.text_columns).where(Project.id == project_id)) or {}
    left = named.get(Side.LEFT, ())
    return aligned(left, named.get(Side.RIGHT, left))


def records_of_items(session: Session, project_id: int, item_ids: Iterable[int]) -> Records:
    """Return these items of the project."""
    rows = [
        row
        for chunk in chunks(item_ids)
        for row in session.execute(select(Item.id, Item.text, Item.split, Item.field_lengths).where(Item.id.in_(chunk)))
    ]
    return Records(
        texts={id_: text for id_, text, *_ in rows},
        splits={id_: Split(split) for id_, _, split, _ in rows},
        _columns=aligned_columns(session, project_id),
        _lengths={id_: lengths for id_, *_, lengths in rows},
    )
