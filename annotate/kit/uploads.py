"""Uploaded files on their way into a project: check and load them."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from allpairs.db.corpus.corpus import Columns, Corpus, make_corpus, read_items
from allpairs.db.corpus.fields import count_long, note_on_long_texts
from allpairs.db.corpus.gold import USUAL_COLUMNS, GoldColumns
from allpairs.db.corpus.staging import Staging
from allpairs.db.domain import READ_TOKENS, Side
from allpairs.db.errors import InputError
from allpairs.db.files.private import FOLDER, open_private
from allpairs.db.progress import Progress, no_progress


@dataclass(frozen=True)
class Source:
    """The files of a project and their columns; without a right file there is one list."""

    left: Path
    left_columns: Columns
    right: Path | None = None
    right_columns: Columns | None = None
    gold: Path | None = None
    gold_columns: GoldColumns = USUAL_COLUMNS

    @property
    def is_list_of_records(self) -> bool:
        """Whether there is one list, of several text columns."""
        return self.right is None and len(self.left_columns.texts) > 1


@dataclass(frozen=True)
class Findings:
    """The problems of the files, one line each, or else what they contain."""

    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left: int = 0
    right: int = 0
    positives: int = 0
    closed: int = 0  # positives that follow from others
    negatives: int = 0


def check(source: Source, progress: Progress = no_progress) -> Findings:
    """Read the files; return a problem for each bad file, else counts and notes."""
    corpus, problems = _try(source, progress, keeps_rows=False)
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
    """Return the corpus in the files; its items are kept on disk.

    Raises InputError for any problem.
    """
    corpus, problems = _try(source, progress, keeps_rows=True)
    if corpus is None:
        raise InputError("; ".join(problems))
    return corpus


def _try(source: Source, progress: Progress, keeps_rows: bool) -> tuple[Corpus | None, list[str]]:
    """Return the corpus, or the problems: both lists are read even if the first has a problem."""
    problems: list[str] = []
    notes: list[str] = []
    sides = [(source.left, Side.LEFT, source.left_columns)]
    if source.right is not None:
        sides.append((source.right, Side.RIGHT, source.right_columns or source.left_columns))
    items = Staging(keeps_rows)
    for path, side, columns in sides:
        try:
            read_items(items, path, side, columns, notes, at_least=3 - len(sides), progress=progress)
        except InputError as error:
            problems.append(str(error))
    if problems:
        return None, problems
    if long := note_on_long_texts(count_long((item.text for item in items), READ_TOKENS), READ_TOKENS):
        notes.append(long)
    try:
        return make_corpus(items, source.right is None, source.gold, source.gold_columns, notes), []
    except InputError as error:
        return None, [str(error)]


def keep_upload(upload: BinaryIO, name: str, folder: Path) -> Path:
    """Store an upload in the folder under its own name, whose suffix decides how it is read; return the path."""
    folder.mkdir(FOLDER, parents=True, exist_ok=True)
    path = folder / (Path(name).name or "upload")
    with open(path, "wb", opener=open_private) as stream:
        upload.seek(0)
        shutil.copyfileobj(upload, stream)
    return path
