"""Questions with answers, in files of MRQA, of SQuAD, or in a table."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from db.corpus.files import read_rows
from db.domain import InputError
from learner.pipelines.mining.reading import ASKED
from learner.pipelines.mining.texts import require_columns


@dataclass(frozen=True)
class Asked:
    """A question, its passage, every right answer, and where the first of them begins (−1: nowhere)."""

    question: str
    passage: str
    answers: tuple[str, ...]
    start: int


def read_questions(path: Path) -> list[Asked]:
    """The questions in the file. Raises InputError where it is none of the three kinds, or has none."""
    reader = {".json": _squad, ".jsonl": _mrqa, ".gz": _mrqa}.get(path.suffix.lower(), _table)
    try:
        found = list(reader(path))
    except (KeyError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError, gzip.BadGzipFile) as error:
        kind = "SQuAD's JSON" if reader is _squad else "MRQA's JSON Lines"
        raise InputError(f"{path.name}: this is not {kind} ({error!r}): name such a file, or a table") from None
    if not found:
        raise InputError(f"{path.name}: there is no question in it: name another file")
    return found


def _squad(path: Path) -> Iterator[Asked]:
    for article in json.loads(path.read_text())["data"]:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                answers = [answer["text"] for answer in qa["answers"]]
                starts = [answer["answer_start"] for answer in qa["answers"]]
                yield _asked(qa["question"], paragraph["context"], answers, starts[0] if starts else -1)


def _mrqa(path: Path) -> Iterator[Asked]:
    """The first line is a header; where an answer begins is where MRQA found it, in characters."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            row = json.loads(line)
            if "header" in row:
                continue
            for qa in row["qas"]:
                detected: list[dict[str, Any]] = qa.get("detected_answers", [])
                start = detected[0]["char_spans"][0][0] if detected else -1
                answers = [*(one["text"] for one in detected), *qa["answers"]]
                yield _asked(qa["question"], row["context"], answers, start)


def _table(path: Path) -> Iterator[Asked]:
    """Rows with the same question and passage are one question with several answers."""
    require_columns(path, ASKED)
    found: dict[tuple[str, str], list[str]] = {}
    for row in read_rows(path, ASKED):
        question, answer, passage = row.values
        found.setdefault((question, passage), []).append(answer)
    for (question, passage), answers in found.items():
        yield _asked(question, passage, answers, passage.find(answers[0]))


def _asked(question: str, passage: str, answers: list[str], start: int) -> Asked:
    """The question; an answer that does not stand where it should is looked for, the first one counts."""
    first = answers[0] if answers else ""
    if start < 0 or not passage.startswith(first, start):
        start = passage.find(first) if first else -1
    return Asked(question.strip(), passage, tuple(dict.fromkeys(answers)), start)
