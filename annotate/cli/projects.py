"""The commands `project create|list|show`."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from allpairs.annotate.kit.command_output import Json, database, print_columns, print_json, progress_line, remark
from allpairs.annotate.kit.jobs.requests import request_round
from allpairs.annotate.projects.projects import (
    ProjectRow,
    Summary,
    checked_settings,
    create_project,
    list_projects,
    project_summary,
)
from allpairs.db.corpus.corpus import Columns, Corpus, stage_corpus
from allpairs.db.corpus.fields import count_long, note_on_long_texts
from allpairs.db.corpus.split import read_split, split_corpus
from allpairs.db.domain import DEFAULT_ENCODER, LABELS, READ_TOKENS, FieldKind, Settings, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import checked_name
from allpairs.program import group

project = group("Create, list, copy, archive, export, import and delete projects.")

Name = Annotated[str, typer.Argument(help="The project's name.")]


def _about(field: str) -> str:
    return f"{Settings.model_fields[field].description} [default: {Settings.model_fields[field].default}]"


@project.command()
def create(
    name: Name,
    left: Annotated[
        Path, typer.Option(help="Items of the left (or only) list: csv, tsv, jsonl or parquet, optionally .gz.")
    ],
    right: Annotated[Path | None, typer.Option(help="Items of the right list, for left × right matching.")] = None,
    gold: Annotated[Path | None, typer.Option(help="Known pairs: id1, id2 and optionally label (1 or 0).")] = None,
    id_column: Annotated[str, typer.Option(help="Name of the id column.")] = "id",
    text_column: Annotated[
        list[str] | None, typer.Option(help="Name of a text column; repeat to join several columns. [default: text]")
    ] = None,
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
    given = {field: value for field, value in locals().items() if field in Settings.model_fields and value is not None}
    if guidelines is not None:
        given["guidelines"] = _read_text(guidelines)
    if split is not None and (both_sides or evaluation_share is not None):
        raise InputError("--split already gives the split: leave out --both-sides and --evaluation-share")
    settings = checked_settings(given)
    name = checked_name(name)
    columns = Columns(id_column, tuple(text_column or ("text",)))
    corpus = stage_corpus(left, columns, right, gold=gold, progress=progress_line)
    corpus = _with_kinds(corpus, kind or [])
    if split is None:
        rng = np.random.default_rng(settings.seed)
        corpus = split_corpus(corpus, settings.evaluation_share, rng, both_sides=both_sides)
    else:
        corpus = read_split(split, corpus)
    engine = database()
    project_id = create_project(engine, name, corpus, settings, progress_line)

    job = request_round(engine, project_id)
    notes = [*corpus.notes, *filter(None, [_long(corpus, settings.encoder)])]
    for note in notes:
        remark(note)
    _print(project_summary(engine, name), as_json, {"notes": notes, "job": job})


def _long(corpus: Corpus, encoder: str) -> str:
    """Return what to say of texts that are longer than what the default encoder reads; empty for another one."""
    texts = (item.text for item in corpus.items if encoder == DEFAULT_ENCODER)
    return note_on_long_texts(count_long(texts, READ_TOKENS), READ_TOKENS)


def _with_kinds(corpus: Corpus, given: Sequence[str]) -> Corpus:
    """Return the corpus with the kinds of columns given as `COLUMN=KIND`. Raises InputError for a wrong one."""
    for one in given:
        name, _, kind = one.rpartition("=")
        if corpus.columns is None or not any(name in names for names in corpus.columns.names.values()):
            raise InputError(f"--kind {one}: there is no text column {name!r} among several; write COLUMN=KIND")
        if kind not in list(FieldKind):
            raise InputError(f"--kind {one}: a column holds one of {', '.join(FieldKind)}")
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
    projects = list_projects(database(), everything)
    if as_json:
        print_json([_row(found) for found in projects])
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
    _print(project_summary(database(), name), as_json, {})


def _counts(found: ProjectRow) -> list[int]:
    return [found.answers.get(answer, 0) for answer in LABELS]


def _row(found: ProjectRow) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": found.name,
        "state": found.state,
        "kind": found.kind.value,
        "created_at": found.created_at.isoformat(),
        "batches": found.rounds,
        "labels": dict(zip((answer.value for answer in LABELS), _counts(found), strict=True)),
    }


def _print(summary: Summary, as_json: bool, more: dict[str, Any]) -> None:
    found, contents = summary.project, summary.contents
    items = {f"{side}, {split}": count for (side, split), count in sorted(contents.items.items())}
    gold = {"positive": contents.gold_positives, "negative": contents.gold_negatives}
    if as_json:
        print_json(
            _row(found) | {"items": _nested(summary), "gold": gold, "settings": found.settings.model_dump()} | more
        )
        return
    rows = [("name", found.name), ("state", found.state), ("kind", found.kind), ("batches", found.rounds)]
    rows += [(f"labels, {answer}", count) for answer, count in zip(LABELS, _counts(found), strict=True)]
    rows += [(f"items, {where}", count) for where, count in items.items()]
    rows += [(f"gold, {label}", count) for label, count in gold.items()]
    rows += list(found.settings.model_dump().items())
    print_columns(("what", "value"), rows)


def _nested(summary: Summary) -> dict[str, dict[str, int]]:
    counts = summary.contents.items
    return {
        side.value: {split.value: count for (of, split), count in sorted(counts.items()) if of == side}
        for side in Side
        if any(of == side for of, _ in counts)
    }
