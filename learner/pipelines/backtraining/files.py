"""Read pairs and texts from files: tables with our columns or the paper's, and DPR's training files."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from allpairs.db.corpus.cells import bad
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.identity import identity

# column names of pairs
QUESTION = ("x", "target_text", "question")
PASSAGE = ("y", "input_text", "passage")
TEXT_COLUMNS = {"questions": ("text", "target_text", "question"), "passages": ("text", "input_text", "passage")}
ANSWER = "answer"
ID = "id"


@dataclass(frozen=True)
class PassageQuestion:
    """A question, its passage, and the answer if it is known."""

    question: str
    passage: str
    answer: str = ""


@dataclass(frozen=True)
class DomainText:
    """A text of the target domain with its id."""

    id: str
    text: str


def require_pairs(path: Path) -> None:
    """Raise InputError if the file lacks the columns of pairs."""
    if not _is_dpr(path):
        names = column_names(path)
        _column(path, names, QUESTION)
        _column(path, names, PASSAGE)


def require_texts(path: Path, kind: str) -> None:
    """Raise InputError if the file has no column of these texts."""
    _column(path, column_names(path), TEXT_COLUMNS[kind])


def read_passage_questions(path: Path) -> list[PassageQuestion]:
    """Return the pairs of a table or of DPR's JSON, white space folded. Raises InputError, naming row and column."""
    if _is_dpr(path):
        return _read_dpr(path)
    names = column_names(path)
    question = _column(path, names, QUESTION)
    passage = _column(path, names, PASSAGE)
    columns = (question, passage, *([ANSWER] if ANSWER in names else []))
    pairs = []
    for row in read_rows(path, columns):
        for column, value in zip(columns[:2], row.values, strict=False):
            if not value.strip():
                raise bad("the text is empty; remove the row", path, row.number, column)
        pairs.append(PassageQuestion(identity(row.values[0]), identity(row.values[1]), *row.values[2:]))
    return pairs


def _read_dpr(path: Path) -> list[PassageQuestion]:
    """Return the questions of DPR's training files, each with its first positive passage."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [
            PassageQuestion(
                identity(row["question"]), identity(row["positive_ctxs"][0]["text"]), (row.get("answers") or [""])[0]
            )
            for row in rows
        ]
    except (ValueError, KeyError, IndexError, TypeError):
        raise bad("not a DPR training file: it needs a list with question and positive_ctxs", path) from None


def read_domain_texts(path: Path, kind: str, each_once: bool = True) -> list[DomainText]:
    """Return the texts of a table, white space folded, without duplicates by default, and without empty ones.

    A text without an id gets its row's number, from 0.
    """
    names = column_names(path)
    column = _column(path, names, TEXT_COLUMNS[kind])
    has_id = ID in names and each_once
    texts: list[DomainText] = []
    known: set[str] = set()
    for number, row in enumerate(read_rows(path, (column, ID) if has_id else (column,))):
        text = identity(row.values[0])
        if text and not (each_once and text in known):
            known.add(text)
            texts.append(DomainText(row.values[1] if has_id else str(number), text))
    return texts


def _column(path: Path, names: Sequence[str], accepted: Sequence[str]) -> str:
    for name in accepted:
        if name in names:
            return name
    raise bad(f"no column {' or '.join(map(repr, accepted))}; the file has {', '.join(map(repr, names[:20]))}", path, 1)


def _is_dpr(path: Path) -> bool:
    return path.suffix == ".json"
