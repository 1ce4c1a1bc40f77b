"""The commands `decisions export|import`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.groups.decision_files import export_decisions, import_decisions
from allpairs.annotate.kit.command_output import Json, print_json, upgraded_engine
from allpairs.program import group

decisions = group("Export and import what people decided of groups: must-links and cannot-links.")

Project = Annotated[str, typer.Argument(help="The project's name.")]


@decisions.command("export")
def export_decisions_to(
    project: Project,
    out: Annotated[Path, typer.Option(help="The file to write (csv, jsonl or parquet).")],
    as_json: Json = False,
) -> None:
    """Write the decisions of a project as pairs of ids: id1, id2, same (1 or 0), who, at.

    Example: allpairs decisions export customers --out decisions.csv
    """
    rows = export_decisions(upgraded_engine(), project, out)
    if as_json:
        print_json({"rows": rows, "out": str(out)})
    else:
        print(f"{rows:,} rows in {out}")


@decisions.command("import")
def import_decisions_from(
    project: Project,
    file: Annotated[Path, typer.Argument(help="A table: id1, id2, same (1 must link, 0 cannot link), optionally who.")],
    as_json: Json = False,
) -> None:
    """Store must-links and cannot-links; the groups follow at once.

    Example: allpairs decisions import customers decisions.csv
    """
    stored = import_decisions(upgraded_engine(), project, file)
    if as_json:
        print_json({"stored": stored})
    else:
        print(f"{stored:,} decisions stored")
