"""Read and write re-ranking files as streams: tables with column names, MS MARCO's released files, TREC's.

MS MARCO: collection.tsv and queries.*.tsv (id, text), qrels.*.tsv (query, 0, passage, 1), triples.train.small.tsv
(three texts), runs (query, passage, rank); none has a header. TREC: runs (query, Q0, passage, rank, score, name).
"""

import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from allpairs.db.corpus.cells import bad, label_of, plain_label, present_columns, shown
from allpairs.db.corpus.files import column_names, file_errors_explained, read_rows
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress

BETWEEN = 100_000  # lines between two progress reports
TABLES = (".csv", ".jsonl", ".ndjson", ".parquet")


class JudgedPassage(NamedTuple):
    """A query's and a passage's id, and whether the passage answers the query."""

    query: str
    passage: str
    right: bool


class RunHit(NamedTuple):
    """A passage at its rank, from 1, for a query."""

    query: str
    passage: str
    rank: int


def read_texts(path: Path, progress: Progress = no_progress) -> Iterator[tuple[str, str]]:
    """Yield id and text of each row. Raises InputError, naming file and row, also for an empty text."""
    if _has_columns(path, ("id", "text")):
        rows = ((row.number, row.values) for row in read_rows(path, ("id", "text"), progress))
    else:
        rows = ((number, tuple(cells)) for number, cells in _cells(path, 2, "id and text", progress))
    for number, (id_, text) in rows:
        if not text.strip():
            raise bad("the text is empty; remove the row", path, number)
        yield id_, text


def read_qrels(path: Path) -> Iterator[JudgedPassage]:
    """Yield the judgements of a table (columns id1, id2 and optionally label), or of a file in TREC's format."""
    if _has_columns(path, ("id1", "id2")):
        label = present_columns(["label"], column_names(path), path.name)
        for row in read_rows(path, ("id1", "id2", *label)):
            yield JudgedPassage(row.values[0], row.values[1], _label(path, row.number, row.values[2] if label else "1"))
        return
    for number, cells in _words(path, (4,), "query, 0, passage and label"):
        yield JudgedPassage(cells[0], cells[2], _label(path, number, cells[3]))


def read_triples(path: Path, most: int, progress: Progress = no_progress) -> Iterator[tuple[str, str, str]]:
    """Yield query, right and wrong passage of the first `most` rows, as texts."""
    for number, (query, right, wrong) in _cells(path, 3, "query, right and wrong passage", progress):
        if number > most:
            return
        yield query, right, wrong


def read_run(path: Path) -> Iterator[RunHit]:
    """Yield the lines of a run in MS MARCO's or TREC's format."""
    for number, cells in _words(path, (3, 6), "query, passage and rank, or TREC's six"):
        query, passage, rank = cells if len(cells) == 3 else (cells[0], cells[2], cells[3])
        if not rank.isdecimal():
            raise bad(f"the rank is {shown(rank)}, not a whole number", path, number)
        yield RunHit(query, passage, int(rank))


def write_run(folder: Path, name: str, lines: Iterable[tuple[RunHit, float]]) -> None:
    """Write the run in both formats: NAME.tsv (MS MARCO) and NAME.trec. lines: hits with scores."""
    marco_path = folder / f"{name}.tsv"
    trec_path = folder / f"{name}.trec"
    with marco_path.open("w", encoding="utf-8") as marco, trec_path.open("w", encoding="utf-8") as trec:
        for (query, passage, rank), score in lines:
            marco.write(f"{query}\t{passage}\t{rank}\n")
            trec.write(f"{query} Q0 {passage} {rank} {score:.6f} {name}\n")


def _label(path: Path, number: int, value: str) -> bool:
    if plain_label(value).isdecimal():  # TREC's grades
        return plain_label(value) != "0"
    return bool(label_of(value, path, number))


def _has_columns(path: Path, columns: Sequence[str]) -> bool:
    """Return whether the file is a table with these columns; raise InputError if a named-column format lacks one."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith(TABLES):
        names = column_names(path)
        if missing := [column for column in columns if column not in names]:
            raise bad(f"no such column; the file has {', '.join(map(shown, names[:20]))}", path, 1, missing[0])
        return True
    first = next(_lines(path, no_progress), (1, ""))[1].split("\t")
    return set(columns) <= {cell.strip() for cell in first}


def _cells(path: Path, n: int, layout: str, progress: Progress) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(path, progress):
        cells = line.split("\t")
        if len(cells) != n:
            raise bad(f"{len(cells)} tab-separated columns instead of {n}: {layout}", path, number)
        yield number, cells


def _words(path: Path, n: Sequence[int], layout: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(path, no_progress):
        cells = line.split()
        if len(cells) not in n:
            raise bad(f"{len(cells)} values instead of {layout}", path, number)
        yield number, cells


def _lines(path: Path, progress: Progress) -> Iterator[tuple[int, str]]:
    """Yield numbers and texts of the non-empty lines. Raises InputError for bytes that are not UTF-8."""
    with file_errors_explained(path), path.open("rb") as raw:
        size = max(1, os.fstat(raw.fileno()).st_size)
        stream: Iterable[bytes] = gzip.GzipFile(fileobj=raw) if path.name.lower().endswith(".gz") else raw
        for number, line in enumerate(stream, start=1):
            if number % BETWEEN == 0:
                progress(f"reading {path.name}", min(1.0, raw.tell() / size))
            try:
                text = line.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                raise InputError(f"{path.name}, row {number}: not UTF-8; save the file as UTF-8") from None
            if text:
                yield number, text
