"""Matches of a whole project in the app: what to search with, and the files."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
from sqlalchemy import Engine

from allpairs.annotate.features.papers.runs import list_runs, outputs_of
from allpairs.annotate.features.quality.rounds import offered_threshold
from allpairs.db.corpus.table_files import write_table
from allpairs.db.domain import Kind
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.projects.projects import project_of
from allpairs.db.projects.records import project_columns
from allpairs.db.results import matches
from allpairs.db.results.matches import folder_of_matches
from allpairs.db.results.pipelines import RERANKER, runs_folder
from allpairs.db.schema.engine import reading
from allpairs.db.texts.changes import version_of_texts

COLUMNS: dict[str, dict[str, type]] = {
    "pairs": {
        "id1": str,
        "id2": str,
        "score": float,
        "p": float,
        "known": str,
        "reason": str,
        "text1": str,
        "text2": str,
        "rerank": float,
    },
    "groups": matches.GROUP_COLUMNS,
}
FILES = {"pairs": matches.PAIRS, "groups": matches.GROUPS}


@dataclass(frozen=True)
class SearchChoices:
    """What a person chooses from: the rounds, the newest first, with the score where p is about ½.

    kind: of the project; columns: its text columns, none if there is only one.
    """

    kind: Kind
    columns: list[str]
    thresholds: dict[int, float | None]


def search_choices(engine: Engine, project_id: int) -> SearchChoices:
    """Return the choices of a search for matches."""
    with reading(engine) as session:
        thresholds = {matcher.number: offered_threshold(matcher) for matcher in matchers_of(session, project_id)}
        kind = Kind(project_of(session, project_id).kind)
        return SearchChoices(kind, project_columns(session, project_id), thresholds)


def texts_version(engine: Engine, project_id: int) -> int:
    """Return the number of the project's newest change of texts."""
    with reading(engine) as session:
        return version_of_texts(session, project_id)


def rerankers(engine: Engine, project_id: int) -> dict[str, str]:
    """Return the re-rankers made by the project's pipeline runs, the newest first: their folders and titles."""
    return {
        str(output.path.relative_to(runs_folder().resolve())): f"{output.title}, {run.job.created_at:%d %b %H:%M}"
        for run in list_runs(engine, project_id)
        for output in outputs_of(run.id)
        if output.kind == RERANKER
    }


def write_matches(project_id: int, table: str, path: Path) -> int:
    """Write the newest matches' `pairs` or `groups` to the file in the format of its suffix; return the row count.

    Raises InputError if there are no matches yet or the file cannot be written.
    """
    if table not in FILES:
        raise InputError(f"there is no table {table!r} of matches; use {', '.join(FILES)}")
    source = folder_of_matches(project_id) / FILES[table]
    with held(source):
        if not source.is_file():
            raise InputError("there are no matches yet: search for them on the page “Export”")
        stored_columns = pyarrow.parquet.read_schema(source).names
        columns = {name: kind for name, kind in COLUMNS[table].items() if name in stored_columns}
        return write_table(path, columns, _rows(source, list(columns)), for_people=True)


def _rows(source: Path, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    with pyarrow.parquet.ParquetFile(source) as file:
        for batch in file.iter_batches(batch_size=8192, columns=columns):
            yield from zip(*(batch.column(name).to_pylist() for name in columns), strict=True)
