"""Read questions with answers from MRQA files, SQuAD files or tables."""

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from allpairs.db.corpus.files import column_names, file_errors_explained, read_rows
from allpairs.db.errors import InputError
from allpairs.learner.pipelines.mining.answers.reading import SEED_COLUMNS
from allpairs.learner.pipelines.mining.texts import require_columns

DATASET = "dataset"
PACKED = ".gz"
LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class QuestionWithAnswers:
    """A question, its passage, every right answer, and where the first of them begins (−1: nowhere).

    dataset: the one that it comes from, or "" if the file does not say.
    """

    question: str
    passage: str
    answers: tuple[str, ...]
    start: int
    dataset: str = ""

    @property
    def answered(self) -> bool:
        """Whether the question has an answer; in SQuAD 2 some have none."""
        return any(self.answers)


def read_questions(path: Path) -> list[QuestionWithAnswers]:
    """Return the questions in the file. Raises InputError if it is of none of the three kinds, or has none."""
    reader = _reader(path)
    try:
        with file_errors_explained(path):
            questions = list(reader(path))
    except (LookupError, TypeError, AttributeError, UnicodeDecodeError, json.JSONDecodeError) as error:
        kind = "SQuAD's JSON" if reader is _squad else "MRQA's JSON Lines"
        raise InputError(f"{path.name}: this is not {kind} ({error!r}): choose such a file, or a table") from None
    if not questions:
        raise InputError(f"{path.name}: the file contains no questions: choose another file")
    return questions


def _reader(path: Path) -> Callable[[Path], Iterator[QuestionWithAnswers]]:
    """Return the file's reader: JSON Lines, gzipped or not, that have a table's columns are read as a table."""
    suffix = Path(path.name.lower().removesuffix(PACKED)).suffix
    if suffix == ".json":
        return _squad
    lines = suffix in LINES and not set(SEED_COLUMNS) <= set(column_names(path))
    return _mrqa if lines else _table


def _text(path: Path) -> TextIO:
    return (
        gzip.open(path, "rt", encoding="utf-8") if path.name.lower().endswith(PACKED) else path.open(encoding="utf-8")
    )


def _squad(path: Path) -> Iterator[QuestionWithAnswers]:
    with _text(path) as file:
        articles = json.load(file)["data"]
    for article in articles:
        for paragraph in article["paragraphs"]:
            for qa in paragraph["qas"]:
                answers = [answer["text"] for answer in qa["answers"]]
                starts = [answer["answer_start"] for answer in qa["answers"]]
                yield _asked(qa["question"], paragraph["context"], answers, starts[0] if starts else -1)


def _mrqa(path: Path) -> Iterator[QuestionWithAnswers]:
    """Yield the file's questions; answers begin where MRQA found them, in characters.

    A header names the data set of the lines below it, so that joined files keep their names.
    """
    dataset = ""
    with _text(path) as lines:
        for line in (line for line in lines if line.strip()):
            row = json.loads(line)
            if "header" in row:
                dataset = str(row["header"].get("dataset", ""))
                continue
            for qa in row["qas"]:
                detected: list[dict[str, Any]] = qa.get("detected_answers", [])
                start = detected[0]["char_spans"][0][0] if detected else -1
                answers = [*(span["text"] for span in detected), *qa["answers"]]
                yield _asked(qa["question"], row["context"], answers, start, dataset)


def _table(path: Path) -> Iterator[QuestionWithAnswers]:
    """Yield the table's questions; rows with the same question and passage are one question with several answers.

    A column `dataset` names where they come from.
    """
    require_columns(path, SEED_COLUMNS)
    columns = [*SEED_COLUMNS, *({DATASET} & set(column_names(path)))]
    answers_by_question: dict[tuple[str, ...], list[str]] = {}
    for row in read_rows(path, columns):
        question, answer, passage, *dataset = row.values
        answers_by_question.setdefault((question, passage, *dataset), []).append(answer)
    for (question, passage, *dataset), answers in answers_by_question.items():
        yield _asked(question, passage, answers, passage.find(answers[0]), *dataset)


def _asked(question: str, passage: str, answers: list[str], start: int, dataset: str = "") -> QuestionWithAnswers:
    """Return the question; if its first answer is not at its stated place, search the passage for it."""
    first = answers[0] if answers else ""
    if start < 0 or not passage.startswith(first, start):
        start = passage.find(first) if first else -1
    return QuestionWithAnswers(question.strip(), passage, tuple(dict.fromkeys(answers)), start, dataset)
