"""The commands `project export|import`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.kit.command_output import Json, print_json, progress_line, remark, upgraded_engine
from allpairs.db.files.private import private_files

Name = Annotated[str, typer.Argument(help="The project's name.")]


def export_to(
    name: Name,
    out: Annotated[Path, typer.Option(help="The zip file to write.")],
    models: Annotated[bool, typer.Option("--models/--no-models", help="Include the models of all rounds.")] = True,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Include the texts' vectors, which can also be recomputed.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a whole project to one file, which `project import` reads on any installation.

    Example: allpairs project export questions --out questions.zip
    """
    progress_line("writing the archive", 0.0)
    exported = export_project(upgraded_engine(), name, out, models, vectors)
    for number in exported.missing:
        remark(f"the model of round {number} is missing from its folder, so it is not in the archive")
    if as_json:
        print_json({"out": str(out), "rows": exported.rows, "models": exported.models})
    else:
        counts = exported.rows
        print(f"{counts['items']:,} texts, {counts['answers']:,} answers and {len(exported.models)} models in {out}")


@private_files()
def import_from(
    file: Annotated[Path, typer.Argument(help="The archive: what `project export` wrote.")],
    name: Annotated[str | None, typer.Option(help="The new project's name. [default: the original name]")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Takes the place of a folder that the archive names as its encoder.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a project from an archive. If the archive is damaged, nothing is imported.

    Example: allpairs project import questions.zip
    """
    progress_line("reading the archive", 0.0)
    arrived = import_project(upgraded_engine(), file, name, encoder)
    for note in arrived.notes:
        remark(note)
    if as_json:
        print_json({"id": arrived.project_id, "name": arrived.name, "rows": arrived.rows, "notes": arrived.notes})
    else:
        print(f"{arrived.name}: {arrived.rows['items']:,} texts, {arrived.rows['answers']:,} answers")
