"""The text columns of a project's lists: their names, which belong together, and what their values are."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from allpairs.db.corpus.field_values import ColumnFormat
from allpairs.db.corpus.fields import Aligned, aligned
from allpairs.db.domain import Clustering, FieldKind, Kind, Side

# of a side, beside its names
KINDS = "{}_kinds"
READINGS = "{}_readings"


class TextColumn(NamedTuple):
    """A column of one list, or two that belong together: the place in each list, None where it has none; the kind."""

    name: str
    left: int | None
    right: int | None
    kind: FieldKind

    def place(self, side: Side) -> int | None:
        """Return the place of the column in the list of this side."""
        return self.left if side == Side.LEFT else self.right


@dataclass(frozen=True)
class TextColumns:
    """The text columns of one list (left) or two: the names, and the kinds, which projects of before 1.1 lack.

    readings: how numbers and dates are written in each column of the lists that a model was trained on.
    """

    names: Mapping[Side, Sequence[str]]
    kinds: Mapping[Side, Sequence[FieldKind]] = field(default_factory=dict)
    readings: Mapping[Side, Sequence[ColumnFormat]] = field(default_factory=dict)

    @cached_property
    def columns(self) -> tuple[TextColumn, ...]:
        """The columns side by side; none if they have no kinds. Partners of different kinds are text."""
        if Side.LEFT not in self.kinds or set(self.kinds) != set(self.names):
            return ()
        left, right = (self.names.get(side, self.names[Side.LEFT]) for side in Side)
        kinds = [self.kinds.get(side, self.kinds[Side.LEFT]) for side in Side]
        side_by_side = aligned(left, right) or [
            *(Aligned(name, place, None) for place, name in enumerate(left)),
            *(Aligned(name, None, place) for place, name in enumerate(right)),
        ]
        return tuple(TextColumn(*column, _kind(kinds, column[1:])) for column in side_by_side)

    def reading(self, side: Side, place: int) -> ColumnFormat | None:
        """Return how the column at this place of a list is written, if it is known."""
        known = self.readings.get(side, self.readings.get(Side.LEFT, ()))
        return known[place] if place < len(known) else None

    def with_kind(self, name: str, kind: FieldKind) -> "TextColumns":
        """Return the columns, with this kind for the column of this name, in both lists if both have it."""
        kinds = {
            side: tuple(
                kind if column_name == name else known_kind
                for column_name, known_kind in zip(self.names[side], kinds, strict=True)
            )
            for side, kinds in self.kinds.items()
        }
        return replace(self, kinds=kinds)

    def of_model(self, known: "TextColumns | None") -> "TextColumns":
        """Return the columns with the kinds that a trained model knows by name; without any if it knows none.

        A model scores a column as it was trained to, whatever another file makes one guess. Its readings hold where the
        values of another file leave open how they are written.
        """
        if known is None or not known.kinds:
            return replace(self, kinds={})
        learned = {
            (side, name): kind
            for side in known.kinds
            for name, kind in zip(known.names[side], known.kinds[side], strict=True)
        }
        kinds = {
            side: [
                learned.get((side, name), learned.get((Side.LEFT, name), kind))
                for name, kind in zip(self.names[side], side_kinds, strict=True)
            ]
            for side, side_kinds in self.kinds.items()
        }
        written = {
            (side, name): reading
            for side, readings in known.readings.items()
            for name, reading in zip(known.names[side], readings, strict=True)
        }
        readings = {
            side: [written.get((side, name), written.get((Side.LEFT, name), ColumnFormat())) for name in names]
            for side, names in self.names.items()
        }
        return replace(self, kinds=kinds, readings=readings)

    def as_dict(self) -> dict[str, list[Any]]:
        """Return them as they are stored with a project and with a model; `read` takes them back."""
        named = {side.value: list(names) for side, names in self.names.items()}
        kinds = {KINDS.format(side): [kind.value for kind in kinds] for side, kinds in self.kinds.items()}
        readings = {READINGS.format(side): list(map(asdict, readings)) for side, readings in self.readings.items()}
        return named | kinds | readings

    @classmethod
    def read(cls, stored: Mapping[str, Any] | None) -> "TextColumns | None":
        """Return the columns of `as_dict`, if there are any. Raises ValueError for an unknown kind, or no names."""
        if not stored:
            return None
        names = {side: tuple(stored[side]) for side in Side if side in stored}
        if not names.get(Side.LEFT) or not all(isinstance(name, str) for side in names.values() for name in side):
            raise ValueError("columns without names")
        kinds = {
            side: tuple(map(FieldKind, stored[KINDS.format(side)])) for side in names if KINDS.format(side) in stored
        }
        readings = {
            side: tuple(ColumnFormat(**reading) for reading in stored[READINGS.format(side)])
            for side in names
            if READINGS.format(side) in stored
        }
        return cls(names, kinds, readings)


def usual_clustering(kind: Kind, several_columns: bool) -> Clustering:
    """Return the clustering that suits most projects with probabilities.

    The doubles of one list of records are few, and some have so many gaps that they resemble only one of them: average
    linkage would leave these out. Texts have larger groups, in which chains join what is apart (docs/results.md).
    """
    return Clustering.CONNECTED if kind == Kind.SYMMETRIC and several_columns else Clustering.AVERAGE


def _kind(kinds: Sequence[Sequence[FieldKind]], places: Sequence[int | None]) -> FieldKind:
    """Return the kind of a column at these places of the lists."""
    column_kinds = {side_kinds[place] for side_kinds, place in zip(kinds, places, strict=True) if place is not None}
    return column_kinds.pop() if len(column_kinds) == 1 else FieldKind.TEXT
