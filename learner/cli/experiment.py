"""The command `experiment`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from allpairs.db.errors import InputError
from allpairs.learner.experiment.display import grid_bar
from allpairs.learner.runtime.progress_output import print_result

if TYPE_CHECKING:
    from allpairs.learner.experiment.grid import Grid


def experiment(
    file: Annotated[Path, typer.Argument(help="The experiment as TOML: data sets, rows, seeds, settings.")],
    out: Annotated[
        Path, typer.Option(help="Folder for runs/, tables/, figures/ and report.md; a folder with runs is resumed.")
    ],
    workers: Annotated[int, typer.Option(min=1, max=64, help="Runs at the same time on each device.")] = 1,
    devices: Annotated[
        str | None, typer.Option(help="Devices, such as cuda:0,cuda:1; default: the first GPU, else the CPU.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the runs and their states as JSON.")] = False,
) -> None:
    """Run a grid of strategies, seeds and data sets; write the paper's tables and figures beside ours.

    A stopped experiment resumes where it stopped; runs whose data or settings have changed are repeated.

    Example: allpairs experiment docs/examples/strategies.toml --out out/experiment --workers 2
    """
    from allpairs.db.files.report import REPORT
    from allpairs.learner.experiment.grid import Grid, run_grid
    from allpairs.learner.experiment.process import checked_devices
    from allpairs.learner.experiment.report import write_report
    from allpairs.learner.experiment.spec import read_experiment

    spec = read_experiment(file)
    slots = checked_devices([name.strip() for name in devices.split(",")] if devices else [], workers)
    grid = Grid(spec, _folder(out), slots)
    with grid_bar() as progress:
        run_grid(grid, progress)
    reported = write_report(spec, out)
    if json:
        print_result({"cells": [standing.as_dict() for standing in grid.standings]}, None)
    elif reported:
        typer.echo((out / REPORT).read_text(encoding="utf-8"))
    _tell_failures(grid)


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{out} cannot be made: {error.strerror}; name another folder") from None
    return out.resolve()


def _tell_failures(grid: "Grid") -> None:
    """Exit with code 1 if runs have failed, after printing each reason to stderr."""
    for standing in grid.failed:
        typer.echo(f"failed: {standing.cell.title}: {standing.error}", err=True)
    if grid.failed:
        failed = len(grid.failed)
        total = len(grid.standings)
        typer.echo(f"error: {failed} of {total} runs failed: fix the reasons above and run the same command", err=True)
        raise typer.Exit(1)
