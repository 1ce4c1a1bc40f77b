"""The command `evaluate-groups`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from allpairs.learner.cli.options import Json
from allpairs.learner.runtime.progress_output import print_result

TITLES = {"pairs": "pairs", "clusters": "whole groups", "b_cubed": "B³"}


def evaluate_groups(
    groups: Annotated[Path, typer.Argument(help="File of groups: id, group, and side for two lists.")],
    true: Annotated[Path, typer.Argument(help="File of true groups, likewise; or of known pairs: id1, id2, label.")],
    left: Annotated[Path | None, typer.Option(help="All texts, also those that neither file names.")] = None,
    right: Annotated[Path | None, typer.Option(help="All texts of the right list.")] = None,
    name: Annotated[str, typer.Option(help="Column of the groups' file: how often it differs or repeats.")] = "",
    by: Annotated[
        str,
        typer.Option(help="Also B³ for each size of the true groups (size), of two lists (source), or column's value."),
    ] = "",
    json: Json = False,
) -> None:
    """Measure groups beside the true ones: by pairs, by whole groups, and B³.

    Example: allpairs evaluate-groups matches-groups.csv gold.csv --left questions.csv
    """
    from allpairs.learner.files.group_figures import group_figures

    figures = group_figures(groups, true, [path for path in (left, right) if path is not None], name, by)
    if json:
        print_result(figures, None)
        return
    typer.echo(f"{figures['texts']:,} texts\n{'':14s}{'precision':>10s}{'recall':>10s}{'F1':>10s}")
    for key, title in TITLES.items():
        typer.echo(
            f"{title:14s}" + "".join(f"{_number(figures[key][part]):>10s}" for part in ("precision", "recall", "f1"))
        )
    for row in figures.get("by", ()):
        numbers = "".join(f"{_number(row[part]):>10s}" for part in ("precision", "recall", "f1"))
        typer.echo(f"{by} {row['value'] or '(empty)'}, {row['texts']:,} texts: B³{numbers}")
    for key in ("found", "true"):
        typer.echo(f"\n{key} groups: " + _summary(figures[key]))


def _summary(figures: Mapping[str, Any]) -> str:
    """Return in words what the groups look like."""
    sizes = ", ".join(f"{count:,} of {size}" for size, count in figures["sizes"].items())
    words = [
        f"{figures['groups']:,} with single texts; {_number(figures['matching_rate'])} of the texts have a partner",
        f"sizes: {sizes}",
        "Hill numbers of the sizes (order 0, 1, 2): " + ", ".join(map(_number, figures["hill_numbers"])),
    ]
    if "homonymy" in figures:
        words.append(f"several names: {_number(figures['name_variation'])} of the groups")
        words.append(f"a name that another group has, too: {_number(figures['homonymy'])} of the groups")
    return "\n  ".join(words)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
