"""The plan of a clean list: which row of each group stays, and which of its cells come from other rows.

The rows of the list are read twice: once for the plan, which keeps in memory what it says of rows in groups alone, and
once for each table that is written by it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from allpairs.db.corpus.field_values import is_missing
from allpairs.db.identity import identity
from allpairs.learner.light.clean.rules import USUAL_RULES, CellRule, CleanRules, KeepRule
from allpairs.learner.light.groups.newest import order_by


class ListedRow(NamedTuple):
    """A row of a list. key: by which groups name it, unlike any other row's; id: as people know it."""

    key: int
    id: str
    cells: Sequence[str]


class RowGroup(NamedTuple):
    """The group of a row; sure: the probability of the weakest link that holds it there, None if unknown."""

    name: str
    sure: float | None = None


class NewCell(NamedTuple):
    """A cell of a row that stays with the value of other rows; origins: their keys."""

    column: int
    value: str
    origins: tuple[int, ...]


@dataclass(frozen=True)
class CleanPlan:
    """What becomes of each row in a group.

    groups: of each row by its key; new_cells: of each row that stays, by its key; removed: the key of the row that
    stands for each other one, in the list's order; ids: of the rows in groups, by their keys; rows: of the list; notes:
    on how the column of dates was read.
    """

    columns: tuple[str, ...]
    groups: Mapping[int, RowGroup]
    new_cells: Mapping[int, tuple[NewCell, ...]]
    removed: Mapping[int, int]
    ids: Mapping[int, str]
    rows: int
    notes: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        """The number of rows that stand for several."""
        return len(set(self.removed.values()))

    @property
    def clean_rows(self) -> int:
        """The number of rows of the clean list."""
        return self.rows - len(self.removed)


Rows = Callable[[], Iterable[ListedRow]]  # each call reads the list anew, in its order


def plan_clean_list(
    rows: Rows, columns: Sequence[str], groups: Mapping[int, RowGroup], rules: CleanRules = USUAL_RULES
) -> CleanPlan:
    """Return what becomes of each row; groups: of each row by its key, none for a row that stands alone.

    Raises InputError for rules that name a column which the list lacks.
    """
    rules.require_possible(columns)
    count = 0
    in_groups = list[ListedRow]()
    for row in rows():
        count += 1
        if row.key in groups:
            in_groups.append(row)
    newest, notes = _newest(in_groups, columns, rules)
    members = defaultdict[str, list[int]](list)
    for place, row in enumerate(in_groups):
        members[groups[row.key].name].append(place)
    all_new_cells = dict[int, tuple[NewCell, ...]]()
    kept_key = dict[str, int]()
    for name, places in members.items():
        first = max(places, key=lambda place: (*_rank(in_groups[place], float(newest[place]), columns, rules), -place))
        ordered = [first, *(place for place in places if place != first)]
        kept_key[name] = in_groups[first].key
        all_new_cells[kept_key[name]] = _new_cells(
            [in_groups[place] for place in ordered], newest[ordered], columns, rules
        )
    removed = {row.key: kept_key[groups[row.key].name] for row in in_groups if row.key not in all_new_cells}
    ids = {row.key: row.id for row in in_groups}
    return CleanPlan(tuple(columns), groups, all_new_cells, removed, ids, count, notes)


def _newest(rows: Sequence[ListedRow], columns: Sequence[str], rules: CleanRules) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the rank of each row by the column of dates, (n,) float64, and how that was read."""
    if not rules.newest_by:
        return np.zeros(len(rows)), ()
    place = columns.index(rules.newest_by)
    order = order_by(rules.newest_by, [row.cells[place] for row in rows])
    return np.where(np.isnan(order.rank), -np.inf, order.rank), (order.note,) if order.note else ()


def _rank(row: ListedRow, newest: float, columns: Sequence[str], rules: CleanRules) -> tuple[float, ...]:
    """Return what the row that stays has the most of: by hand, by the rule, filled cells, letters."""
    filled = [cell for cell in row.cells if is_filled(cell)]
    chosen = 0.0
    if rules.keep == KeepRule.NEWEST:
        chosen = newest
    elif rules.keep == KeepRule.SOURCE:
        source = row.cells[columns.index(rules.source_column)].strip()
        chosen = -float(rules.sources.index(source) if source in rules.sources else len(rules.sources))
    by_hand = float(row.id in rules.stays)
    return (by_hand, chosen) if rules.keep == KeepRule.FIRST else (by_hand, chosen, len(filled), sum(map(len, filled)))


def is_filled(cell: str) -> bool:
    """Return whether a cell says something: neither nothing nor a sign or word for nothing."""
    return not is_missing(identity(cell))


def _new_cells(
    rows: Sequence[ListedRow], newest: np.ndarray, columns: Sequence[str], rules: CleanRules
) -> tuple[NewCell, ...]:
    """Return the cells that the first of these rows, which stays, gets from the others."""
    cells = (_cell(rows, place, newest, rules.rule_of(column), rules.separator) for place, column in enumerate(columns))
    return tuple(cell for cell in cells if cell.value != rows[0].cells[cell.column])


def _cell(rows: Sequence[ListedRow], place: int, newest: np.ndarray, rule: CellRule, separator: str) -> NewCell:
    having = [number for number, row in enumerate(rows) if is_filled(row.cells[place])]
    values = {number: rows[number].cells[place] for number in having}
    if not having or rule == CellRule.KEPT:
        return NewCell(place, rows[0].cells[place], (rows[0].key,))
    if rule == CellRule.JOINED:
        distinct = {identity(values[number]): number for number in reversed(having)}
        chosen = sorted(distinct.values())
        joined_values = separator.join(values[number] for number in chosen)
        return NewCell(place, joined_values, tuple(rows[number].key for number in chosen))
    if rule == CellRule.LONGEST:
        number = max(having, key=lambda number: len(values[number]))
    elif rule == CellRule.FREQUENT:
        counts = Counter(map(identity, values.values()))
        number = max(having, key=lambda number: counts[identity(values[number])])
    elif rule == CellRule.NEWEST:
        number = max(having, key=lambda number: newest[number])
    else:
        number = having[0]
    return NewCell(place, values[number], (rows[number].key,))
