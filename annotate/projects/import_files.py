"""Files on their way to a project: which columns to use, what is wrong, what they contain."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from db.corpus.corpus import Columns, Corpus, make_corpus, read_items
from db.corpus.staging import Staging
from db.domain import Side
from db.errors import InputError
from db.progress import Progress, no_progress

IDS, TEXTS = ("id", "key", "qid"), ("text", "question", "sentence", "passage", "title", "description", "name")
FIRSTS, SECONDS, LABELS = ("id1", "left", "qid1"), ("id2", "right", "qid2"), ("label", "is_duplicate", "positive")


@dataclass(frozen=True)
class Source:
    """The files of a project and their columns. Without a right file there is one list."""

    left: Path
    left_columns: Columns
    right: Path | None = None
    right_columns: Columns | None = None
    gold: Path | None = None
    gold_columns: tuple[str, str, str] = ("id1", "id2", "label")  # an empty label column: every pair is positive


@dataclass(frozen=True)
class Findings:
    """What is wrong with files, one line each, else what they contain."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left: int = 0
    right: int = 0
    positives: int = 0
    closed: int = 0  # of the positives: not stated, but following from others
    negatives: int = 0


def check(source: Source, progress: Progress = no_progress) -> Findings:
    """What reading the files brings to light: a problem for each file that has one, else counts and notes."""
    corpus, problems = _try(source, progress)
    if corpus is None:
        return Findings(problems=tuple(problems))
    positives = sum(pair.positive for pair in corpus.gold)
    return Findings(
        notes=tuple(corpus.notes),
        left=corpus.count(Side.LEFT),
        right=corpus.count(Side.RIGHT),
        positives=positives,
        closed=sum(pair.closure for pair in corpus.gold),
        negatives=len(corpus.gold) - positives,
    )


def load(source: Source, progress: Progress = no_progress) -> Corpus:
    """The corpus in the files; its items lie on disk.

    Raises InputError where there is a problem.
    """
    corpus, problems = _try(source, progress)
    if corpus is None:
        raise InputError("; ".join(problems))
    return corpus


def _try(source: Source, progress: Progress) -> tuple[Corpus | None, list[str]]:
    """The corpus, or what is wrong: both lists are read even where the first has a problem."""
    problems: list[str] = []
    notes: list[str] = []
    sides = [(source.left, Side.LEFT, source.left_columns)]
    if source.right is not None:
        sides.append((source.right, Side.RIGHT, source.right_columns or source.left_columns))
    items = Staging()
    for path, side, columns in sides:
        try:
            read_items(items, path, side, columns, notes, at_least=3 - len(sides), progress=progress)
        except InputError as error:
            problems.append(str(error))
    if problems:
        return None, problems
    try:
        return make_corpus(items, source.right is None, source.gold, source.gold_columns, notes), []
    except InputError as error:
        return None, [str(error)]


def guess_columns(names: Sequence[str]) -> Columns:
    """The id column and the text column that a person would probably choose."""
    id_ = _first(names, IDS) or names[0]
    rest = [name for name in names if name != id_] or list(names)
    return Columns(id_, (_first(rest, TEXTS) or rest[0],))


def guess_gold_columns(names: Sequence[str]) -> tuple[str, str, str]:
    """The two id columns and the label column that a person would probably choose; no label column is empty."""
    left = _first(names, FIRSTS) or names[0]
    rest = [name for name in names if name != left] or list(names)
    return left, _first(rest, SECONDS) or rest[0], _first(rest, LABELS) or ""


def _first(names: Sequence[str], wanted: Sequence[str]) -> str | None:
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name] for name in wanted if name in lower), None)


def keep_upload(upload: BinaryIO, name: str, folder: Path) -> Path:
    """The file in the folder that holds an upload, under its own name, which decides how it is read."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (Path(name).name or "upload")
    with path.open("wb") as stream:
        upload.seek(0)
        shutil.copyfileobj(upload, stream)
    return path
