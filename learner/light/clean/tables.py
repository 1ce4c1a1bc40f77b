"""The three tables of a clean list: the list marked, the clean list, and what changed; row by row."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from allpairs.learner.light.clean.plan import CleanPlan, ListedRow, RowGroup

ADDED = ("group", "keep", "sure")
ADDED_TO_NEW = (*ADDED, "kept_id")
CHANGED = ("change", "group", "id", "kept_id", "column", "value", "from_id", "sure")
REMOVED_ROW = "row removed"
NEW_CELL = "cell changed"
BETWEEN_IDS = "; "


class MarkedRow(NamedTuple):
    """A row of the list as it came, its group if it has one, and whether it stays."""

    cells: Sequence[str]
    group: RowGroup | None
    keep: bool

    @property
    def marks(self) -> tuple[str, str, str]:
        """The cells of the added columns."""
        return (self.group.name, yes_or_no_word(self.keep), sure_text(self.group)) if self.group else ("", "yes", "")


def added_columns(columns: Sequence[str], added: Sequence[str] = ADDED) -> tuple[str, ...]:
    """Return the names of the columns that a table has besides, those of the marked list, unlike all that it has."""
    taken = {column.casefold() for column in columns}
    return tuple(
        next(name for name in (base, *(f"{base}_{n}" for n in range(2, len(taken) + 3))) if name not in taken)
        for base in added
    )


def marked_rows(rows: Iterable[ListedRow], plan: CleanPlan) -> Iterator[MarkedRow]:
    """Yield every row in its order."""
    for row in rows:
        group = plan.groups.get(row.key)
        yield MarkedRow(row.cells, group, group is None or row.key in plan.new_cells)


def clean_rows(rows: Iterable[ListedRow], plan: CleanPlan) -> Iterator[Sequence[str]]:
    """Yield the cells of each row that stays, in its order, with those that come from other rows."""
    for row in rows:
        if row.key in plan.new_cells:
            cells = list(row.cells)
            for cell in plan.new_cells[row.key]:
                cells[cell.column] = cell.value
            yield cells
        elif row.key not in plan.groups:
            yield row.cells


def rows_with_kept(rows: Iterable[ListedRow], plan: CleanPlan, ids: Collection[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows with these ids as the marked list has them, and the id of the row that stays for each."""
    for row in rows:
        if row.id in ids:
            (marked,) = marked_rows((row,), plan)
            yield *marked.cells, *marked.marks, plan.ids.get(plan.removed.get(row.key, row.key), row.id)


def changed_rows(plan: CleanPlan) -> Iterator[tuple[str, ...]]:
    """Yield what changed, in the columns `CHANGED`: rows that are gone, then cells with another row's value."""
    for key, kept_key in plan.removed.items():
        group = plan.groups[key]
        yield REMOVED_ROW, group.name, plan.ids[key], plan.ids[kept_key], "", "", "", sure_text(group)
    for key, cells in plan.new_cells.items():
        for cell in cells:
            origins = BETWEEN_IDS.join(plan.ids[origin] for origin in cell.origins)
            names = plan.groups[key].name, plan.ids[key], plan.ids[key], plan.columns[cell.column]
            yield NEW_CELL, *names, cell.value, origins, ""


def yes_or_no_word(value: bool) -> str:
    """Return `yes` or `no`."""
    return "yes" if value else "no"


def sure_text(group: RowGroup) -> str:
    """Return the probability, rounded down so that only what is certain is 1.00."""
    return "" if group.sure is None else f"{int(group.sure * 100 + 1e-9) / 100:.2f}"
