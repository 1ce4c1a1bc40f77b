"""Where the names of a sheet's columns stand, and what they are: below titles, over two rows, in merged cells."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from xlsxwriter.utility import xl_col_to_name

from allpairs.db.identity import INVISIBLE


class Span(NamedTuple):
    """Merged cells: the places of the first and the last row and column, from 0."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True)
class SheetHead:
    """The names of the columns, in this row or this and the next; empty for columns without one.

    below: the place of the first row below; title: what stands above.
    """

    row: int
    below: int
    names: list[str] = field(default_factory=list)
    title: str = ""

    @property
    def unnamed(self) -> set[int]:
        """The places of the columns without a name."""
        return {place for place, name in enumerate(self.names) if not name}

    def named(self, left: int, filled: set[int]) -> list[tuple[str, int]]:
        """Return names and places of all columns but empty ones; one without a name has its letters.

        left: the columns before the first. filled: the columns without a name that have values.
        """
        named = ((name or xl_col_to_name(left + place), place) for place, name in enumerate(self.names))
        return [(name, place) for name, place in named if self.names[place] or place in filled]


def find_head(rows: Sequence[Sequence[str]], spans: Sequence[Span]) -> SheetHead:
    """Return the head among the first rows of a sheet: the first row with half as many cells as the widest has."""
    widths = [sum(map(bool, row)) for row in rows]
    row = next((place for place, width in enumerate(widths) if width and width * 2 >= max(widths)), 0)
    title = " ".join(cell for above in rows[:row] for cell in above if cell)
    names = [" ".join(INVISIBLE.sub("", cell).split()) for cell in rows[row]] if rows else []
    groups = [span for span in spans if span.top == row and span.right > span.left]
    grouped = {place: names[span.left] for span in groups for place in range(span.left, span.right + 1)}
    names = [grouped.get(place, name) for place, name in enumerate(names)]
    parts = rows[row + 1] if len(rows) > row + 1 else []
    if grouped and _are_parts(parts, names, grouped.keys()):
        names = [" ".join(filter(None, pair)) for pair in zip(names, parts, strict=True)]
        return SheetHead(row, row + 2, names, title)
    counts = Counter[str]()
    for place, name in sorted(grouped.items()):
        counts[name] += 1
        names[place] = f"{name} {counts[name]}" if counts[name] > 1 else name
    return SheetHead(row, row + 1, names, title)


def _are_parts(parts: Sequence[str], names: Sequence[str], grouped: Collection[int]) -> bool:
    """Return whether a row has the names of the columns that merged cells above it group, and nothing else."""
    below_groups = [parts[place] for place in grouped] if parts else [""]
    alone = any(
        part and name for place, (part, name) in enumerate(zip(parts, names, strict=False)) if place not in grouped
    )
    return all(part and not part[0].isdigit() for part in below_groups) and not alone
