"""Which row of a group stays in the clean list, and where each of its cells comes from."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from allpairs.db.corpus.cells import shown
from allpairs.db.errors import InputError

EVERY_COLUMN = "*"  # stands for the columns without a rule of their own


class KeepRule(StrEnum):
    """Which row of a group stays: that with the most filled cells, the newest, the first, or a source's."""

    COMPLETE = "complete"
    NEWEST = "newest"
    FIRST = "first"
    SOURCE = "source"


class CellRule(StrEnum):
    """Which value of its group a cell gets.

    kept: that of the row that stays; first: the same, or if it is empty that of the first row which has one.
    """

    KEPT = "kept"
    FIRST = "first"
    LONGEST = "longest"
    FREQUENT = "frequent"
    NEWEST = "newest"
    JOINED = "joined"


@dataclass(frozen=True)
class CleanRules:
    """How a group becomes one row.

    stays: ids of rows that stay whatever `keep` says. newest_by: the column of dates or numbers in which the newest row
    has the largest value. source_column, sources: where a row's source stands, and the sources, the best first. cells:
    the rule of each column that has one. separator: of joined values.
    """

    keep: KeepRule = KeepRule.COMPLETE
    newest_by: str = ""
    source_column: str = ""
    sources: tuple[str, ...] = ()
    stays: Collection[str] = frozenset()
    cells: Mapping[str, CellRule] = field(default_factory=dict)
    separator: str = "; "

    def require_possible(self, columns: Sequence[str]) -> None:
        """Raise InputError for a column that the list lacks, and for a rule without the column that it needs."""
        if self.keep == KeepRule.NEWEST and not self.newest_by:
            raise InputError("the newest row stays, but by which column? Give newest_by, a column of dates or numbers")
        if self.keep == KeepRule.SOURCE and not (self.source_column and self.sources):
            raise InputError("a source's row stays, but which one? Give the source column, and its values, best first")
        if CellRule.NEWEST in self.cells.values() and not self.newest_by:
            raise InputError("a column takes the newest value, but by which column? Give newest_by")
        for column in filter(None, [self.newest_by, self.source_column, *self.cells]):
            if column not in (*columns, EVERY_COLUMN):
                listed = ", ".join(map(shown, columns[:20])) + (", …" if len(columns) > 20 else "")
                raise InputError(f"the list has no column {shown(column)}; it has {listed}: choose one of these")

    def rule_of(self, column: str) -> CellRule:
        """Return the rule of this column."""
        return self.cells.get(column, self.cells.get(EVERY_COLUMN, CellRule.KEPT))


USUAL_RULES = CleanRules()


def read_cell_rules(assignments: Iterable[str]) -> dict[str, CellRule]:
    """Return the rules of columns from `phone=joined`; `*` stands for all other columns. Raises InputError."""
    rules = {}
    for text in assignments:
        column, equals, rule = text.rpartition("=")
        if not equals or rule not in set(CellRule):
            raise InputError(f"{shown(text)} is no rule of a column: write COLUMN=RULE; rules: {', '.join(CellRule)}")
        rules[column] = CellRule(rule)
    return rules


def read_sources(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the column and its values from `source=shop,web`; nothing for "". Raises InputError."""
    column, _, values = text.partition("=")
    sources = tuple(filter(None, map(str.strip, values.split(","))))
    if text and not (column and sources):
        raise InputError(f"{shown(text)} is no order of sources: write COLUMN=BEST,SECOND")
    return column, sources
