"""The command `project clean`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy import Engine

from allpairs.annotate.features.clean.new_version import (
    NewRows,
    count_new_rows,
    counts_in_words,
    replace_list_with,
    search_again,
    version_file,
)
from allpairs.annotate.features.clean.overview import needs_search
from allpairs.annotate.features.clean.project_list import CleanRulesInput, write_new_list, write_project_list
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.texts.change_texts import TextFile
from allpairs.annotate.kit.command_output import remark, upgraded_engine
from allpairs.annotate.kit.jobs.wait import wait_for_job
from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.learner.light.clean.files import new_rows_path, require_table_paths, table_paths
from allpairs.learner.light.clean.rules import CellRule, KeepRule, read_cell_rules

UNSURE_CODE = 3


def clean_project(
    name: Annotated[str, typer.Argument(help="The project's name.")],
    out: Annotated[
        Path, typer.Option(help="File for the clean list; xlsx: one workbook; else OUT-marked, OUT-changes beside it.")
    ],
    side: Annotated[Side, typer.Option(help="Of two lists, which one.")] = Side.LEFT,
    keep: Annotated[KeepRule, typer.Option(help="The row of a group that stays.")] = KeepRule.COMPLETE,
    newest_by: Annotated[str, typer.Option(help="Column in which the newest row has the largest value.")] = "",
    sources: Annotated[str, typer.Option(help="Column of sources, and these, best first: SOURCE=shop,web.")] = "",
    column: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Where a column's value comes from, NAME=RULE; *=RULE for all others; rules: {', '.join(CellRule)}."
        ),
    ] = None,
    new: Annotated[
        Path | None, typer.Option(help="A new version of the list: taken over, searched for doubles, then written.")
    ] = None,
    renamed: Annotated[
        list[str] | None, typer.Option(help="A column that the new version calls otherwise: OLD=NEW.")
    ] = None,
    unsure: Annotated[
        float, typer.Option(help="Exit code 3 if a larger share of the new rows is unsure.", min=0, max=1)
    ] = 0.05,
) -> None:
    """Write a project's list without its doubles, the list marked, and what changed, by the groups that it keeps.

    With `--new` the list becomes that file first, and its new rows are written to OUT-new, too. Rows that went are
    gone; ids, groups and decisions stay.

    Example: allpairs project clean customers --out clean.xlsx --column phone=joined
    Example: allpairs project clean customers --new march.xlsx --out march-clean.xlsx
    """
    require_table_paths(out)
    engine = upgraded_engine()
    choices = CleanRulesInput(
        side=side, keep=keep, newest_by=newest_by, sources=sources, columns=json.dumps(read_cell_rules(column or ()))
    )
    project_id = project_by_name(engine, name).id
    if new is not None:
        _take_over(engine, project_id, version_file(engine, project_id, new, side, _names(renamed or ())))
    notes = write_project_list(engine, project_id, choices, out)
    written = table_paths(out)
    if new is not None:
        write_new_list(engine, project_id, choices, new_rows_path(out))
        written = *written, new_rows_path(out)
    for note in notes:
        print(note)
    print(f"Written: {', '.join(map(str, written))}")
    if new is not None:
        _require_sure(count_new_rows(engine, project_id, side), unsure)


def _names(renamed: Sequence[str]) -> dict[str, str]:
    names = dict[str, str]()
    for text in renamed:
        old, equals, name = text.partition("=")
        if not equals:
            raise InputError(f"--renamed {text}: write OLD=NEW, the names of the column")
        names[old] = name
    return names


def _take_over(engine: Engine, project_id: int, file: TextFile) -> None:
    """Take the new version over, and wait for its groups, unless they are those of this list already."""
    outcome = replace_list_with(engine, project_id, file)
    for note in outcome.notes:
        remark(note)
    print(f"Rows: {counts_in_words(outcome)}.")
    if needs_search(engine, project_id):
        wait_for_job(engine, project_id, search_again(engine, project_id))


def _require_sure(rows: NewRows, most: float) -> None:
    """Exit with code 3 if too many of the new rows are unsure."""
    print(f"{counted(rows.total, 'new row')}, {rows.unsure:,} unsure.")
    if rows.share > most:
        remark("more are unsure than you allow: look at their groups on the page “Clean list”, where they come first")
        raise typer.Exit(UNSURE_CODE)
