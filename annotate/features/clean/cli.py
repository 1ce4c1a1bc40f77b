"""The command `project clean`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.clean.project_list import CleanRulesInput, write_project_list
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.kit.command_output import upgraded_engine
from allpairs.db.domain import Side
from allpairs.learner.light.clean.files import require_table_paths, table_paths
from allpairs.learner.light.clean.rules import CellRule, KeepRule, read_cell_rules


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
) -> None:
    """Write a project's list without its doubles, the list marked, and what changed, by the groups that it keeps.

    Example: allpairs project clean customers --out clean.xlsx --column phone=joined
    """
    require_table_paths(out)
    engine = upgraded_engine()
    choices = CleanRulesInput(
        side=side, keep=keep, newest_by=newest_by, sources=sources, columns=json.dumps(read_cell_rules(column or ()))
    )
    for note in write_project_list(engine, project_by_name(engine, name).id, choices, out):
        print(note)
    print(f"Written: {', '.join(map(str, table_paths(out)))}")
