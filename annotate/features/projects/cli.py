"""The commands of `project`, but for export and import."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
import typer

from allpairs.annotate.features.projects.database_query import write_query
from allpairs.annotate.features.projects.lifecycle import (
    BIN_TIME,
    archive_project,
    bin_project,
    duplicate_project,
    holdings,
    restore_project,
)
from allpairs.annotate.features.projects.projects import (
    ProjectRow,
    Summary,
    checked_settings,
    create_project,
    delete_project,
    list_projects,
    project_by_name,
    project_summary,
)
from allpairs.annotate.kit.command_output import Json, print_columns, print_json, progress_line, remark, upgraded_engine
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.kit.text.formatting import megabytes
from allpairs.db.corpus.column_guess import columns_of_file
from allpairs.db.corpus.corpus import Corpus, stage_corpus
from allpairs.db.corpus.fields import count_long, note_on_long_texts
from allpairs.db.corpus.files import FileFormat
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import DEFAULT_ENCODER, LABELS, READ_TOKENS, FieldKind, Settings, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import checked_name
from allpairs.program import EncodingOption, SeparatorOption, SheetOption, group

project = group("Create, list, copy, archive, export, import and delete projects.")

Name = Annotated[str, typer.Argument(help="The project's name.")]


def _about(field: str) -> str:
    return f"{Settings.model_fields[field].description} [default: {Settings.model_fields[field].default}]"


@project.command()
def create(
    name: Name,
    left: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Items of the left (or only) list: csv, xlsx, ods, jsonl, parquet, also .gz; with --query a database.",
        ),
    ],
    right: Annotated[Path | None, typer.Option(help="Items of the right list, for left × right matching.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Known pairs: id1, id2 and optionally label (1 or 0).")] = None,
    id_column: Annotated[
        str | None, typer.Option(help="Name of the id column; '' numbers the rows. [default: id, or a guess]")
    ] = None,
    text_column: Annotated[
        list[str] | None,
        typer.Option(help="Name of a column to compare; once for each. [default: text, or what looks like records]"),
    ] = None,
    separator: SeparatorOption = "",
    encoding: EncodingOption = "",
    sheet: SheetOption = "",
    query: Annotated[
        str, typer.Option(help="With the address of a database as --left: a SELECT, or the name of a table.")
    ] = "",
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=KIND", help=f"What a text column holds, if the guess is wrong: {', '.join(FieldKind)}."
        ),
    ] = None,
    question: Annotated[str | None, typer.Option(help=_about("question"))] = None,
    guidelines: Annotated[Path | None, typer.Option(help="A file with guidelines for annotators, in Markdown.")] = None,
    encoder: Annotated[str | None, typer.Option(help=_about("encoder"))] = None,
    first: Annotated[int | None, typer.Option(help=_about("first"))] = None,
    growth: Annotated[float | None, typer.Option(help=_about("growth"))] = None,
    neighbours: Annotated[int | None, typer.Option(help=_about("neighbours"))] = None,
    evaluation_share: Annotated[float | None, typer.Option(help=_about("evaluation_share"))] = None,
    strategy: Annotated[str | None, typer.Option(help=_about("strategy"))] = None,
    seed: Annotated[int | None, typer.Option(help=_about("seed"))] = None,
    split: Annotated[
        Path | None, typer.Option(help="A file with the columns id, side and split, used instead of a random split.")
    ] = None,
    both_sides: Annotated[bool, typer.Option("--both-sides", help="Split the right list too.")] = False,
    as_json: Json = False,
) -> None:
    """Create a project from files and request its first batch.

    Example: allpairs project create questions --left questions.csv --gold duplicates.csv --first 64
    """
    values = {field: value for field, value in locals().items() if field in Settings.model_fields and value is not None}
    if guidelines is not None:
        values["guidelines"] = _read_text(guidelines)
    if split is not None and (both_sides or evaluation_share is not None):
        raise InputError("--split already gives the split: leave out --both-sides and --evaluation-share")
    settings = checked_settings(values)
    name = checked_name(name)
    stated = FileFormat(separator, encoding, sheet)
    notes: list[str] = []
    with TemporaryDirectory(prefix="allpairs-") as folder:
        path = write_query(left, query, Path(folder)) if query else Path(left)
        columns = columns_of_file(path, Side.LEFT, id_column, text_column, stated, notes)
        right_columns = columns_of_file(right, Side.RIGHT, id_column, text_column, stated, notes) if right else None
        corpus = stage_corpus(path, columns, right, right_columns, gold, progress=progress_line, keeps_rows=True)
    corpus = _with_kinds(corpus, kind or [])
    if right is None and corpus.columns and len(corpus.columns.names[Side.LEFT]) > 1:
        # Who has one list of records wants it without its doubles.
        settings = settings.model_copy(update={"keep_groups": True})
    if split is None:
        rng = np.random.default_rng(settings.seed)
        corpus = split_corpus(corpus, settings.evaluation_share, rng, both_sides=both_sides)
    else:
        corpus = read_split(split, corpus)
    engine = upgraded_engine()
    project_id = create_project(engine, name, corpus, settings, progress_line)

    job = request_round(engine, project_id)
    notes = [*notes, *corpus.notes, *filter(None, [_long(corpus, settings.encoder)])]
    for note in notes:
        remark(note)
    _print(project_summary(engine, name), as_json, {"notes": notes, "job": job})


def _long(corpus: Corpus, encoder: str) -> str:
    """Return what to say of texts that are longer than what the default encoder reads; empty for another one."""
    texts = (item.text for item in corpus.items if encoder == DEFAULT_ENCODER)
    return note_on_long_texts(count_long(texts, READ_TOKENS), READ_TOKENS)


def _with_kinds(corpus: Corpus, kinds: Sequence[str]) -> Corpus:
    """Return the corpus with the kinds of columns given as `COLUMN=KIND`. Raises InputError for a wrong one."""
    for entry in kinds:
        name, _, kind = entry.rpartition("=")
        if corpus.columns is None or not any(name in names for names in corpus.columns.names.values()):
            raise InputError(f"--kind {entry}: there is no text column {name!r} among several; write COLUMN=KIND")
        if kind not in list(FieldKind):
            raise InputError(f"--kind {entry}: a column holds one of {', '.join(FieldKind)}")
        corpus = replace(corpus, columns=corpus.columns.with_kind(name, FieldKind(kind)))
    return corpus


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: cannot read the file ({error.strerror})") from None


@project.command("list")
def list_all(
    everything: Annotated[bool, typer.Option("--all", help="Include archived projects and those in the bin.")] = False,
    as_json: Json = False,
) -> None:
    """List the projects, the newest first.

    Example: allpairs project list --all --json
    """
    projects = list_projects(upgraded_engine(), everything)
    if as_json:
        print_json([_row(row) for row in projects])
    elif projects:
        header = ("name", "state", "kind", "batches", *LABELS, "made (UTC)")
        rows = ((p.name, p.state, p.kind, p.rounds, *_counts(p), f"{p.created_at:%Y-%m-%d}") for p in projects)
        print_columns(header, rows)
    else:
        remark("there is no project yet; to create one, see allpairs project create --help")


@project.command()
def show(name: Name, as_json: Json = False) -> None:
    """Show what a project contains, its progress and its settings.

    Example: allpairs project show questions
    """
    _print(project_summary(upgraded_engine(), name), as_json, {})


def _counts(row: ProjectRow) -> list[int]:
    return [row.answers.get(answer, 0) for answer in LABELS]


def _row(row: ProjectRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "name": row.name,
        "state": row.state,
        "kind": row.kind.value,
        "created_at": row.created_at.isoformat(),
        "batches": row.rounds,
        "labels": dict(zip((answer.value for answer in LABELS), _counts(row), strict=True)),
    }


def _print(summary: Summary, as_json: bool, more: dict[str, Any]) -> None:
    row = summary.project
    contents = summary.contents
    items = {f"{side}, {split}": count for (side, split), count in sorted(contents.items.items())}
    gold = {"positive": contents.gold_positives, "negative": contents.gold_negatives}
    if as_json:
        print_json(_row(row) | {"items": _nested(summary), "gold": gold, "settings": row.settings.model_dump()} | more)
        return
    rows = [("name", row.name), ("state", row.state), ("kind", row.kind), ("batches", row.rounds)]
    rows += [(f"labels, {answer}", count) for answer, count in zip(LABELS, _counts(row), strict=True)]
    rows += [(f"items, {place}", count) for place, count in items.items()]
    rows += [(f"gold, {label}", count) for label, count in gold.items()]
    rows += list(row.settings.model_dump().items())
    print_columns(("what", "value"), rows)


def _nested(summary: Summary) -> dict[str, dict[str, int]]:
    counts = summary.contents.items
    return {
        side.value: {split.value: count for (item_side, split), count in sorted(counts.items()) if item_side == side}
        for side in Side
        if any(item_side == side for item_side, _ in counts)
    }


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
    engine = upgraded_engine()
    copy_id, named = duplicate_project(engine, project_by_name(engine, name).id, labels, to)

    request_round(engine, copy_id)
    print(named)


@project.command()
def archive(name: Name) -> None:
    """Archive a project: hide it from lists, and run no jobs for it, until it is restored.

    Example: allpairs project archive questions
    """
    engine = upgraded_engine()
    archive_project(engine, project_by_name(engine, name).id)


@project.command()
def restore(name: Name) -> None:
    """Restore a project from the bin, or else from the archive.

    Example: allpairs project restore questions
    """
    engine = upgraded_engine()
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
    engine = upgraded_engine()
    row = project_by_name(engine, name, in_bin=at_once)
    if not yes:
        contents = holdings(engine, row.id)
        counts = f"{contents.items:,} texts, {contents.labels:,} labels, {contents.models} models"
        size = megabytes(contents.folder_bytes)
        typer.confirm(
            f"Delete {row.name!r} with {counts}, {size}{' permanently' if at_once else ''}?", abort=True, err=True
        )
    if at_once:
        delete_project(engine, row.id)
    else:
        bin_project(engine, row.id)
        remark(f"it stays in the bin for {BIN_TIME.days} days; to restore it, run allpairs project restore")
