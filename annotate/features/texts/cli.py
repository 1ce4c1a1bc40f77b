"""The commands `texts add|withdraw|undo|list`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.projects.history import NOBODY
from allpairs.annotate.features.projects.projects import project_by_name
from allpairs.annotate.features.texts import change_texts
from allpairs.annotate.features.texts.change_texts import Act, TextChangeDetails, TextFile
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, remark, upgraded_engine
from allpairs.db.corpus.corpus import Columns
from allpairs.db.corpus.files import FileFormat
from allpairs.db.domain import Side
from allpairs.program import EncodingOption, SeparatorOption, SheetOption, group

texts = group("Add, change and withdraw texts of a project.")

Project = Annotated[str, typer.Argument(help="The project's name.")]
ListSide = Annotated[Side, typer.Option("--side", help="The list that the texts are in, if the project has two.")]
Dry = Annotated[bool, typer.Option("--dry-run", help="Store nothing; only report what would change.")]
IdColumn = Annotated[str, typer.Option("--id", help="The column with the ids.")]
TextColumns = Annotated[
    list[str] | None,
    typer.Option("--text", help="A column with the text; once for each of the project's. [default: their names]"),
]


@texts.command("add")
def add(
    project: Project,
    file: Annotated[Path, typer.Argument(help="A table (csv, xlsx, ods, jsonl, parquet …) with ids and texts.")],
    side: ListSide = Side.LEFT,
    id_column: IdColumn = "id",
    text: TextColumns = None,
    separator: SeparatorOption = "",
    encoding: EncodingOption = "",
    sheet: SheetOption = "",
    dry: Dry = False,
    as_json: Json = False,
) -> None:
    """Add the texts of a file, and change those whose id the project has. If a row is wrong, nothing changes.

    Example: allpairs texts add questions new.csv
    """
    engine = upgraded_engine()
    names = tuple(text or change_texts.text_columns(engine, project_by_name(engine, project).id, side))
    columns = Columns(id_column, names, stated=FileFormat(separator, encoding, sheet))
    _run(project, TextFile(file, Act.ADD, side, columns), dry, as_json)


@texts.command("withdraw")
def withdraw(
    project: Project,
    file: Annotated[Path, typer.Argument(help="A table (csv, xlsx, ods, jsonl, parquet …) with ids.")],
    side: ListSide = Side.LEFT,
    id_column: IdColumn = "id",
    separator: SeparatorOption = "",
    encoding: EncodingOption = "",
    sheet: SheetOption = "",
    dry: Dry = False,
    as_json: Json = False,
) -> None:
    """Withdraw the texts with the ids of a file. Their answers stay in the record.

    Example: allpairs texts withdraw questions gone.csv --dry-run
    """
    columns = Columns(id_column, stated=FileFormat(separator, encoding, sheet))
    _run(project, TextFile(file, Act.WITHDRAW, side, columns), dry, as_json)


def _run(project: str, source: TextFile, dry: bool, as_json: bool) -> None:
    outcome = (change_texts.preview_change if dry else change_texts.apply)(upgraded_engine(), project, source)
    if as_json:
        print_json(outcome.in_short)
        return
    for kind, count in outcome.counts.items():
        if count:
            print(f"{count:,} {change_texts.TITLES[kind]}")
    for note in outcome.notes:
        remark(note)
    if not dry:
        print("nothing has changed" if outcome.change is None else f"stored as change {outcome.change.number}")


@texts.command("undo")
def undo(project: Project, as_json: Json = False) -> None:
    """Undo the newest change of a project's texts that stands.

    Example: allpairs texts undo questions
    """
    engine = upgraded_engine()
    change = change_texts.undo_text_change(engine, project_by_name(engine, project).id)
    if as_json:
        print_json(change)
    else:
        print(f"change {change.number} ({change.source}) is undone")


@texts.command("list")
def list_(project: Project, as_json: Json = False) -> None:
    """List the changes of a project's texts, the newest first.

    Example: allpairs texts list questions
    """
    engine = upgraded_engine()
    changes = change_texts.list_changes(engine, project_by_name(engine, project).id)
    if as_json:
        print_json(changes)
        return
    header = ("number", "when", "who", "file", "added", "changed", "withdrawn", "undone")
    print_columns(header, map(_row, changes))


def _row(change: TextChangeDetails) -> tuple[object, ...]:
    undone = f"{change.undone_at:%Y-%m-%d %H:%M} UTC" if change.undone_at else ""
    counts = change.added, change.changed, change.withdrawn
    return change.number, f"{change.at:%Y-%m-%d %H:%M} UTC", change.who or NOBODY, change.source, *counts, undone
