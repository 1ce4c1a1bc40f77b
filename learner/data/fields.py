"""The columns of records: what the models read of a record, and what is compared column by column."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from allpairs.db.corpus.field_values import READ, ColumnFormat, plain_values, reading_of
from allpairs.db.corpus.fields import BETWEEN_TEXTS, joined, joined_values
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side

UNREAD = (FieldKind.PRICE,)  # kinds that are compared, but no part of the text that a model reads


@dataclass(frozen=True)
class Field:
    """A column that both lists have: its name, its kind, and its value in each text, empty where it is missing."""

    name: str
    kind: FieldKind
    values: Sequence[str]

    def take(self, rows: Iterable[int]) -> "Field":
        """Return the values of these texts only."""
        return Field(self.name, self.kind, [self.values[row] for row in rows])


@dataclass(frozen=True)
class RecordTexts:
    """Texts with their columns: for each text the lengths of its columns' values, if it has several, and its side."""

    texts: Sequence[str]
    lengths: Sequence[Sequence[int] | None]
    sides: Sequence[str]
    columns: TextColumns

    @classmethod
    def of_rows(cls, rows: Iterable[Sequence[str]], side: Side, columns: TextColumns) -> "RecordTexts":
        """Return the records of these rows of values, in the order of the side's columns."""
        records = [joined(row) for row in rows]
        return cls([text for text, _ in records], [lengths for _, lengths in records], [side] * len(records), columns)

    def __add__(self, appended: "RecordTexts") -> "RecordTexts":
        """Return these texts followed by others with the same columns."""
        texts = [*self.texts, *appended.texts]
        lengths = [*self.lengths, *appended.lengths]
        return RecordTexts(texts, lengths, [*self.sides, *appended.sides], self.columns)

    def take(self, rows: Sequence[int]) -> "RecordTexts":
        """Return these of the texts."""
        texts = [self.texts[row] for row in rows]
        sides = [self.sides[row] for row in rows]
        return RecordTexts(texts, [self.lengths[row] for row in rows], sides, self.columns)

    def read(self) -> list[str]:
        """Return what the models read of each text: all but its prices, unless it has nothing else."""
        unread = {
            side: {column.place(side) for column in self.columns.columns if column.kind in UNREAD} - {None}
            for side in Side
        }
        rows = zip(self.texts, self.lengths, self.sides, strict=True)
        return [_without(text, lengths, unread[Side(side)]) for text, lengths, side in rows]

    def fields(self, as_trained: bool = False) -> tuple[Field, ...]:
        """Return the columns that both lists have, with their values in one form (`plain_values`).

        Each list's column has one reading, by all its values here. as_trained: that of the list that the model was
        trained on, of which these texts are some.
        """
        columns = self.columns if as_trained else self.columns_read
        shared = [column for column in self.columns.columns if None not in (column.left, column.right)]
        values_by_column = [[""] * len(self.texts) for _ in shared]
        for side, rows in self._rows.items():
            cells = self._cells(rows)
            for column, values in zip(shared, values_by_column, strict=True):
                place = column.place(side)
                assert place is not None  # both lists have the column
                reading = columns.reading(side, place) or self.columns_read.reading(side, place) or ColumnFormat()
                plain = plain_values(_at_place(cells, place), column.kind, reading)
                for row, value in zip(rows, plain, strict=True):
                    values[row] = value
        return tuple(
            Field(column.name, column.kind, column_values)
            for column, column_values in zip(shared, values_by_column, strict=True)
        )

    @cached_property
    def columns_read(self) -> TextColumns:
        """The columns with the reading of each, by its values here; what they leave open is as it was in training."""
        sides = {side: self.columns.kinds.get(side, self.columns.kinds.get(Side.LEFT, ())) for side in self._rows}
        readings = {side: self._readings(side, kinds) for side, kinds in sides.items()}
        return replace(self.columns, readings={**self.columns.readings, **readings})

    def _readings(self, side: Side, kinds: Sequence[FieldKind]) -> list[ColumnFormat]:
        cells = self._cells(self._rows[side]) if any(kind in READ for kind in kinds) else []
        return [
            reading_of(_at_place(cells, place), kind, self.columns.reading(side, place))
            if kind in READ
            else ColumnFormat()
            for place, kind in enumerate(kinds)
        ]

    def _cells(self, rows: Iterable[int]) -> list[list[str]]:
        """Return the values of each of these texts."""
        return [joined_values(self.texts[row], self.lengths[row]) for row in rows]

    @cached_property
    def _rows(self) -> dict[Side, list[int]]:
        """The rows of each list that there are."""
        rows: dict[Side, list[int]] = {}
        for row, side in enumerate(self.sides):
            rows.setdefault(Side(side), []).append(row)
        return rows


def _at_place(cells: Sequence[Sequence[str]], place: int) -> list[str]:
    """Return the value of each text in the column at this place; "" for none."""
    return [of_text[place] if place < len(of_text) else "" for of_text in cells]


def joined_fields(left: Sequence[Field], right: Sequence[Field], numbers: tuple[int, int]) -> tuple[Field, ...]:
    """Return the fields of the texts of one list followed by those of another; numbers: of texts in each."""
    fields = {}
    for name, kind in {field.name: field.kind for field in (*left, *right)}.items():
        sides = (
            {field.name: field.values for field in side}.get(name, [""] * n)
            for side, n in zip((left, right), numbers, strict=True)
        )
        fields[name] = Field(name, kind, [value for values in sides for value in values])
    return tuple(fields.values())


def _without(text: str, lengths: Sequence[int] | None, unread: set[int | None]) -> str:
    if not lengths or not unread:
        return text
    read = (value for place, value in enumerate(joined_values(text, lengths)) if place not in unread)
    return BETWEEN_TEXTS.join(filter(None, read)) or text
