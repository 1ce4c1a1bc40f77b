"""A project's texts, as requests name them and as answers show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.projects.items import chunks, identifiers_of
from allpairs.db.schema.tables import Item
from allpairs.learner.data.fields import RecordTexts

ONE_COLUMN = TextColumns({Side.LEFT: ("text",)})
Query = str | Mapping[str, str]  # a text, or a record by the names of its columns


@dataclass(frozen=True)
class ProjectTexts:
    """A project's texts as its models see them: row i is the item `item_ids[i]`, in ascending order."""

    item_ids: np.ndarray
    one_list: bool
    columns: TextColumns

    def records(self, queries: Sequence[Query], of_left: bool) -> RecordTexts:
        """Return what is asked for as records of this side.

        Raises InputError for a column that there is not, for texts among records, and where there is nothing to read.
        """
        records = self._records(queries, of_left)
        for number, text in enumerate(records.texts, 1):
            if not identity(text):
                raise InputError(f"there is nothing to read in text {number} of {len(queries)}: leave it out")
        return records

    def _records(self, queries: Sequence[Query], of_left: bool) -> RecordTexts:
        side = self.side(of_left)
        texts = [query.strip() for query in queries if isinstance(query, str)]
        if len(texts) == len(queries):
            return RecordTexts(texts, [None] * len(texts), [side] * len(texts), ONE_COLUMN)
        if texts:
            raise InputError("some of what is asked for are texts and some are records: give one or the other")
        names = self.names(of_left)
        rows = (_values(query, names) for query in queries if not isinstance(query, str))
        return RecordTexts.of_rows(rows, side, self.columns)

    def names(self, of_left: bool) -> Sequence[str]:
        """Return the names of the text columns of this side."""
        return self.columns.names.get(self.side(of_left), self.columns.names[Side.LEFT])

    def side(self, of_left: bool) -> Side:
        """Return the stored side of the texts of a query's side: a project of one list has but one."""
        return Side.LEFT if of_left or self.one_list else Side.RIGHT

    def read(self, session: Session, rows: np.ndarray, of_left: bool) -> RecordTexts:
        """Return the texts of these rows, which are of this side. Raises InputError if one was removed."""
        item_ids = self.item_ids[rows].tolist()
        by_id: dict[int, tuple[str, list[int] | None]] = {}
        for chunk in chunks(item_ids):
            stored = select(Item.id, Item.text, Item.field_lengths).where(Item.id.in_(chunk))
            by_id |= {id_: (text, lengths) for id_, text, lengths in session.execute(stored)}
        if len(by_id) < len(set(item_ids)):
            raise InputError("texts of the project have just been removed: ask again")
        texts = [by_id[id_][0] for id_ in item_ids]
        lengths = [by_id[id_][1] for id_ in item_ids]
        return RecordTexts(texts, lengths, [self.side(of_left)] * len(texts), self.columns)

    def ids(self, session: Session, rows: np.ndarray) -> dict[int, list[str]]:
        """Return the imported ids of these rows, by row."""
        items = dict(zip(self.item_ids[rows].tolist(), rows.tolist(), strict=True))
        return {items[id_]: names for id_, names in identifiers_of(session, items).items()}


def _values(record: Mapping[str, str], names: Sequence[str]) -> list[str]:
    if unknown := [name for name in record if name not in names]:
        column_names = ", ".join(map(shown, names))
        raise InputError(
            f"a record has the column {shown(unknown[0])}, but this list has {column_names}: name one of them"
        )
    return [record.get(name, "") for name in names]
