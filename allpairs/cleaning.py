"""A list without its doubles, from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from allpairs.arguments import cell_text, checked, finite, list_of, mapping_of, one_text, optional, texts
from allpairs.db.errors import InputError
from allpairs.matcher import Matcher, matcher_or_path

if TYPE_CHECKING:
    import pandas as pd

    from allpairs.learner.light.clean.plan import CleanPlan

TEXT = "text"  # the column of a list of texts


@dataclass(frozen=True)
class CleanList:
    """What `clean` returns.

    clean: one row for each group and each row that stands alone, in the order of the list. marked: every row, with the
    columns `group`, `keep` (`yes` or `no`) and `sure`, the probability of the weakest link that holds its group.
    changes: the rows that are gone with those that stand for them, and the cells that come from other rows. notes: on
    how values were read.
    """

    clean: pd.DataFrame
    marked: pd.DataFrame
    changes: pd.DataFrame
    notes: tuple[str, ...] = ()


@checked(
    rows=texts,
    model=optional(matcher_or_path),
    keep=one_text,
    columns=optional(mapping_of(one_text, one_text)),
    text_columns=optional(list_of(one_text)),
    id_column=optional(one_text),
    newest_by=optional(one_text),
    sources=optional(mapping_of(one_text, list_of(one_text))),
    threshold=optional(finite),
)
def clean(
    rows: Iterable[str] | pd.DataFrame,
    model: Matcher | str | PathLike[str] | None = None,
    *,
    keep: str = "complete",
    columns: Mapping[str, str] | None = None,
    text_columns: Sequence[str] | None = None,
    id_column: str | None = None,
    newest_by: str | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
    threshold: float | None = None,
) -> CleanList:
    """Return a list without its doubles, the list marked, and what changed.

    rows: a data frame, or a list of texts. model: a Matcher or its folder; without one only rows that agree
    well are joined. keep: the row of a group that stays: `complete` (most cells filled), `newest` (by the column
    `newest_by`), `first`, or `source` (by `sources`: a column, and its values, best first). columns: where a column's
    value comes from: `kept` (the row that stays, the default), `first` (the first that is not empty), `longest`,
    `frequent`, `newest` or `joined`; `*` stands for all other columns. text_columns: those that are compared; by
    default the model's, or all but `id_column`. threshold: the lowest score of a match, without a
    model the lowest p. Raises InputError.
    """
    import pandas as pd

    from allpairs.learner.files.clean import (
        compared_columns,
        group_rows_of_list,
        list_records,
        model_for_list,
    )
    from allpairs.learner.light.clean.plan import ListedRow, plan_clean_list
    from allpairs.learner.light.clean.rules import CleanRules, KeepRule, read_cell_rules

    if keep not in set(KeepRule):
        raise InputError(f"keep is {keep!r}: use {', '.join(KeepRule)}")
    if sources is not None and len(sources) != 1:
        raise InputError(f"sources names {len(sources)} columns: give one, with its values, best first")
    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame({TEXT: list(rows)}, dtype=object)
    names = [str(name) for name in frame.columns]
    ((source_column, order),) = sources.items() if sources else (("", ()),)
    rules = CleanRules(
        KeepRule(keep),
        newest_by or "",
        source_column,
        tuple(order),
        cells=read_cell_rules(f"{name}={rule}" for name, rule in (columns or {}).items()),
    )
    rules.require_possible(names)
    if id_column is not None and id_column not in names:
        raise InputError(f"the data frame has no column {id_column!r} but {', '.join(names)}")
    cells = _cells(frame, names)
    ids = [row[names.index(id_column)] for row in cells] if id_column is not None else list(map(str, frame.index))
    loaded = model.loaded if isinstance(model, Matcher) else model_for_list(None if model is None else str(model))
    compared = compared_columns(names, loaded, text_columns or (), id_column or "")
    places = [names.index(name) for name in compared]
    records = list_records([[row[place] for place in places] for row in cells], compared, loaded)
    groups = group_rows_of_list(loaded, records, threshold)
    listed = [ListedRow(place, *row) for place, row in enumerate(zip(ids, cells, strict=True))]
    return _as_frames(frame, plan_clean_list(lambda: listed, names, groups.of_row, rules))


def _cells(frame: pd.DataFrame, names: Sequence[str]) -> list[list[str]]:
    values = frame.astype(object)
    table = values.where(values.notna(), None).itertuples(index=False, name=None)
    return [
        [cell_text(cell, f"rows[{place}]", name) for name, cell in zip(names, row, strict=True)]
        for place, row in enumerate(table)
    ]


def _as_frames(frame: pd.DataFrame, plan: CleanPlan) -> CleanList:
    import pandas as pd

    from allpairs.learner.light.clean.tables import CHANGED, added_columns, changed_rows

    group_name, keep, sure = added_columns(plan.columns)
    groups = [plan.groups.get(place) for place in range(len(frame))]
    marked = frame.copy()
    marked[group_name] = pd.array([int(group.name) if group else None for group in groups], dtype="Int64")
    marked[keep] = ["no" if place in plan.removed else "yes" for place in range(len(frame))]
    marked[sure] = [group.sure if group and group.sure is not None else float("nan") for group in groups]
    kept_rows = frame.copy()
    for place, new_cells in plan.new_cells.items():
        for cell in new_cells:
            column = frame.columns[cell.column]
            value = frame[column].iloc[cell.origins[0]] if len(cell.origins) == 1 else cell.value
            if len(cell.origins) > 1:
                kept_rows[column] = kept_rows[column].astype(object)
            kept_rows.iloc[place, cell.column] = value
    clean_rows = kept_rows[[place not in plan.removed for place in range(len(frame))]]
    return CleanList(clean_rows, marked, pd.DataFrame(changed_rows(plan), columns=CHANGED), plan.notes)
