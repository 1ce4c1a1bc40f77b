"""The commands `labels export|import|verify`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.annotate.features.labels import checksum_chain
from allpairs.annotate.features.labels.export import export_dataset, export_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.features.labels.import_labels import Choices, import_labels
from allpairs.annotate.kit.command_output import Json, print_json, upgraded_engine
from allpairs.program import group

labels = group("Export and import the labels of a project.")

Project = Annotated[str, typer.Argument(help="The project's name.")]


@labels.command("export")
def export_to(
    project: Project,
    out: Annotated[Path, typer.Option(help="The file to write (csv, jsonl or parquet); with --dataset, the folder.")],
    form: Annotated[
        Form,
        typer.Option(
            "--format",
            help="labels: current labels. history: every answer ever given. pairs, positives, triplets: training pairs "
            "in the formats of sentence-transformers. audit: labels for measuring, for allpairs evaluate --audit. "
            "implied: unlabelled pairs of one list whose label follows from others. "
            "verdicts: what machine raters said.",
        ),
    ] = Form.LABELS,
    dataset: Annotated[
        bool, typer.Option("--dataset", help="Write a folder with all formats, for datasets.load_dataset(folder).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the labels of a project to a file.

    Example: allpairs labels export questions --out labels.csv
    """
    if dataset:
        rows = sum(export_dataset(upgraded_engine(), project, out).values())
    else:
        rows = export_labels(upgraded_engine(), project, out, form)
    if as_json:
        print_json({"rows": rows, "out": str(out), "format": "dataset" if dataset else form.value})
    else:
        print(f"{rows:,} rows in {out}")


@labels.command("import")
def import_from(
    project: Project,
    file: Annotated[
        Path, typer.Argument(help="A table: id1, id2, label (1, 0 or unsure), optionally annotator, note.")
    ],
    skip: Annotated[bool, typer.Option("--skip", help="Leave out rows with mistakes and store the others.")] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also store labels that differ from the current ones, and replace those.")
    ] = False,
    dry: Annotated[bool, typer.Option("--dry", help="Store nothing; only report what would be stored.")] = False,
    problems: Annotated[Path | None, typer.Option(help="Write all rows that are not stored to this CSV file.")] = None,
    as_json: Json = False,
) -> None:
    """Store the labels of a file. If one is wrong, none is stored.

    Labels that exist already are left out, and so are labels that differ from the project's own.

    Example: allpairs labels import questions labels.csv
    """
    report = import_labels(upgraded_engine(), project, file, Choices(skip, replace, dry), problems)
    if as_json:
        print_json(report.as_dict())
        return
    print(f"{report.stored:,} labels {'would be stored' if dry else 'stored'}")
    for trouble, count in report.counts.items():
        print(f"{count:,} rows not stored: {trouble}")
        for problem in report.first[trouble]:
            print(f"  row {problem.row}: {problem.what}")


@labels.command()
def verify(
    file: Annotated[Path, typer.Argument(help="What labels export wrote with --format history.")], as_json: Json = False
) -> None:
    """Check the checksums of an exported history, and name the first row that was changed, removed, added or moved.

    Example: allpairs labels verify history.csv
    """
    verified = checksum_chain.verify(file)
    if as_json:
        print_json({"rows": verified.rows, "checksum": verified.checksum})
    else:
        print(f"{verified.rows:,} rows, none changed; last checksum {verified.checksum}")
