"""The commands `project duplicate|archive|restore|delete`."""

from typing import Annotated

import typer

from allpairs.annotate.cli.projects import Name, project
from allpairs.annotate.kit.command_output import database, remark
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.text.formatting import megabytes
from allpairs.annotate.projects.lifecycle import (
    KEPT,
    archive_project,
    bin_project,
    duplicate_project,
    holdings,
    restore_project,
)
from allpairs.annotate.projects.projects import delete_project, project_by_name

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@project.command()
def duplicate(
    name: Name,
    to: Annotated[str, typer.Option("--as", help="Name of the copy. [default: the name and “copy”]")] = "",
    labels: Annotated[bool, typer.Option("--labels", help="Copy the labels too.")] = False,
) -> None:
    """Copy a project with its items, known pairs and settings, and request its first batch.

    Example: allpairs project duplicate questions --as "questions, random" --labels
    """
    engine = database()
    copy_id, named = duplicate_project(engine, project_by_name(engine, name).id, labels, to)

    request_round(engine, copy_id)
    print(named)


@project.command()
def archive(name: Name) -> None:
    """Archive a project: hide it from lists, and run no jobs for it, until it is restored.

    Example: allpairs project archive questions
    """
    engine = database()
    archive_project(engine, project_by_name(engine, name).id)


@project.command()
def restore(name: Name) -> None:
    """Restore a project from the bin, or else from the archive.

    Example: allpairs project restore questions
    """
    engine = database()
    restore_project(engine, project_by_name(engine, name, in_bin=True).id)


@project.command()
def delete(
    name: Name,
    yes: Yes = False,
    at_once: Annotated[bool, typer.Option("--now", help="Delete permanently, without the bin or from it.")] = False,
) -> None:
    """Move a project to the bin, where it can be restored for seven days.

    Example: allpairs project delete questions --yes
    """
    engine = database()
    found = project_by_name(engine, name, in_bin=at_once)
    if not yes:
        held = holdings(engine, found.id)
        what = f"{held.items:,} texts, {held.labels:,} labels, {held.models} models, {megabytes(held.folder_bytes)}"
        typer.confirm(f"Delete {found.name!r} with {what}{' permanently' if at_once else ''}?", abort=True, err=True)
    if at_once:
        delete_project(engine, found.id)
    else:
        bin_project(engine, found.id)
        remark(f"it stays in the bin for {KEPT.days} days; to restore it, run allpairs project restore")
