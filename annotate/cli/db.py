"""The commands `db upgrade|backup|restore|check|collect`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.archives.backups import back_up, bring_back
from allpairs.annotate.kit.command_output import Json, print_json, progress_line, remark, upgraded_engine
from allpairs.annotate.kit.text.formatting import megabytes
from allpairs.db.maintenance.backup import Rows
from allpairs.db.maintenance.file_modes import close_home
from allpairs.db.maintenance.garbage import garbage, remove
from allpairs.db.maintenance.in_use import processes
from allpairs.db.maintenance.integrity import problems
from allpairs.db.maintenance.upgrade import upgrade as bring_up_to_date
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import now
from allpairs.program import group

db = group("The database: upgrade it, back it up, restore it, check it.")


@db.command()
def upgrade() -> None:
    """Upgrade the tables, after a back-up; every start of the app does the same.

    Example: allpairs db upgrade
    """
    for line in close_home():
        remark(line)
    backups = bring_up_to_date()
    print(
        "the tables are already up to date" if backups is None else f"upgraded; back-up of the rows before: {backups}"
    )
    if backups is not None:
        with reading(make_engine()) as session:
            for process in processes(session):
                remark(f"{process} may be of the version before: restart it")


@db.command()
def backup(
    out: Annotated[Path, typer.Option(help="The folder to create.")],
    models: Annotated[bool, typer.Option("--models/--no-models", help="Include the models of all rounds.")] = True,
    as_json: Json = False,
) -> None:
    """Write all rows and models to a new folder; labelling can go on meanwhile.

    Example: allpairs db backup --out backups/monday
    """
    rows = back_up(make_engine(), out, models, progress_line)
    _print(rows, out, as_json)


@db.command()
def restore(
    source: Annotated[Path, typer.Argument(help="A folder that `db backup` wrote, or a file of rows.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite the database. All current projects are lost.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Restore all rows and models of a back-up. If anything is wrong with it, or a worker runs, nothing is changed.

    Stop the app and its workers first.

    Use it to move to another database too: set ALLPAIRS_DATABASE_URL, then restore a back-up.

    Example: allpairs db restore backups/monday
    """
    rows = bring_back(make_engine(), source, replace, progress_line)
    remark("jobs that were waiting or running when the back-up was made are cancelled")
    remark("machine raters have ended and webhooks are switched off: set up or switch on those that you want")
    _print(rows, source, as_json)


@db.command()
def check() -> None:
    """Look for damage: missing or changed rows, labels, models and other files. Exit code 1 if there is any.

    Example: allpairs db check
    """
    problem_list = list(problems(upgraded_engine()))
    for problem in problem_list:
        print(problem)
    if problem_list:
        raise typer.Exit(1)
    print("no damage found")


@db.command()
def collect(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what would be removed.")] = False,
    as_json: Json = False,
) -> None:
    """Remove unused files older than a day: leftovers of killed jobs, and files that were replaced.

    Example: allpairs db collect --dry-run
    """
    garbage_list = list(garbage(upgraded_engine(), now()))
    for piece in garbage_list:
        if not dry_run:
            remove(piece)
        if not as_json:
            print(f"{megabytes(piece.size):>10}  {piece.place}")
    size = sum(piece.size for piece in garbage_list)
    if as_json:
        print_json({"removed": not dry_run, "bytes": size, "found": [asdict(piece) for piece in garbage_list]})
    else:
        print(f"{megabytes(size)} in {len(garbage_list):,} places {'would be removed' if dry_run else 'removed'}")


def _print(rows: Rows, path: Path, as_json: bool) -> None:
    if as_json:
        print_json({"path": str(path), "rows": rows})
    else:
        print(f"{rows['projects']:,} projects, {rows['items']:,} texts and {rows['answers']:,} answers: {path}")
