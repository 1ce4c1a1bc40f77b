"""Reading comprehension: the second text of a pair is a passage together with one of its spans, the candidate answer.

Source: Joshi et al. (2022), section 4.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.parquet

from allpairs.db.corpus.cells import bad
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.pipelines.mining.answers.entities import EntityTagger
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer, wrong_answers, wrong_passages
from allpairs.learner.pipelines.mining.texts import CHUNK, ID, TEXT, TextList

ANSWER = "answer"
START = "start"
PASSAGE = "passage"
PASSAGE_ID = "passage_id"
COLUMNS = (ID, TEXT, ANSWER, START, PASSAGE, PASSAGE_ID)
SEED_COLUMNS = ("x", "answer", "passage")  # columns of the seed pairs
BETWEEN = " | "  # joins answer and passage into one text
Row = tuple[str, ...]


def answer_with_passage(answer: str, passage: str) -> str:
    """Return the second text of a pair."""
    return f"{answer}{BETWEEN}{passage}"


def write_candidates(source: Path, target: Path, tagger: EntityTagger, progress: Progress) -> TextList:
    """Write every span of every passage of a table (columns id, text) as a list; constant memory.

    The id is the passage's, a #, and the span's first character. Raises InputError if there is no span at all.
    """
    schema = pyarrow.schema([(name, pyarrow.large_string()) for name in COLUMNS])
    with pyarrow.parquet.ParquetWriter(target, schema) as writer:
        for rows in _chunks(source, tagger, progress):
            values = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
            writer.write_table(pyarrow.table(values, schema=schema))
    candidates = TextList(target)
    if not len(candidates):
        raise InputError(
            f"{source.name}: no passage has a name, date or number that may be an answer: choose other passages"
        )
    return candidates


def _chunks(source: Path, tagger: EntityTagger, progress: Progress) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for row in read_rows(source, (ID, TEXT), progress):
        id_, passage = row.values
        if not passage.strip():
            raise bad("the text is empty; remove the row", source, row.number, TEXT)
        for start, end, _ in tagger(passage):
            answer = passage[start:end]
            rows.append((f"{id_}#{start}", answer_with_passage(answer, passage), answer, str(start), passage, id_))
        if len(rows) >= CHUNK:
            yield rows
            rows = []
    if rows:
        yield rows


def read_answered(path: Path) -> list[PassageAnswer]:
    """Return the questions of a table with answers and passages. Raises InputError, which names row and column."""
    questions = []
    for row in read_rows(path, SEED_COLUMNS):
        empty = next((name for name, value in zip(SEED_COLUMNS, row.values, strict=True) if not value.strip()), None)
        if empty is not None:
            raise bad("the text is empty; remove the row", path, row.number, empty)
        question, answer, passage = row.values
        questions.append(PassageAnswer(question, passage, answer))
    return questions


def questions_as_pairs(questions: Sequence[PassageAnswer]) -> list[tuple[str, str]]:
    """Return the questions, and each answer and passage as one text."""
    return [(question.question, answer_with_passage(question.answer, question.passage)) for question in questions]


def rows_of_answers(texts: TextList) -> dict[tuple[str, str], list[int]]:
    """Return the rows of each passage's candidates, by its id and the answer in SQuAD's normal form."""
    rows: dict[tuple[str, str], list[int]] = {}
    for row, (id_, answer) in enumerate(zip(texts.all(PASSAGE_ID), texts.all(ANSWER), strict=True)):
        rows.setdefault((id_, squad_form(answer)), []).append(row)
    return rows


def wrong_texts(
    questions: Sequence[PassageAnswer],
    passages: Sequence[str],
    tagger: EntityTagger,
    n: int,
    rng: np.random.Generator,
) -> list[list[str]]:
    """Return n wrong second texts for each question: half wrong spans, half its answer with other passages.

    If a passage has too few spans, other passages replace them.
    """
    spans = wrong_answers(questions, tagger, (n + 1) // 2, rng)
    elsewhere = wrong_passages(questions, passages, n, rng)
    chosen = [(wrong + replacements)[:n] for wrong, replacements in zip(spans, elsewhere, strict=True)]
    return [[answer_with_passage(question.answer, question.passage) for question in wrong] for wrong in chosen]


def write_answered(path: Path, questions: Sequence[PassageAnswer]) -> None:
    """Write the questions to the file."""
    path.write_text(json.dumps(questions), encoding="utf-8")


def load_answered(path: Path) -> list[PassageAnswer]:
    """Return what `write_answered` wrote; empty if there is no such file."""
    return [PassageAnswer(*values) for values in json.loads(path.read_text(encoding="utf-8"))] if path.exists() else []
