"""WikiQA: the published split of the questions, each against all sentences of all parts.

Source: Mussmann, Jia and Liang (2020), section 3.1 and table 1. Unlabelled pairs are negative.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from allpairs.db.corpus.fields import BETWEEN_TEXTS
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.learner.published.released import PARTS, GivenPair, Options, Released, Text, Titles

PARQUET = ("split", "question_id", "question", "title", "sentence", "label")
RELEASED = ("QuestionID", "Question", "DocumentTitle", "Sentence", "Label")


class LabelledSentence(NamedTuple):
    """A labelled sentence of a question; the title may be empty."""

    part: str
    question_id: str
    question: str
    title: str
    sentence: str
    label: str


def read_wikiqa(path: Path, options: Options) -> Released:
    """Read the data set from WikiQA-train.tsv, -dev.tsv and -test.tsv in a folder, or from wikiqa.parquet.

    Sentences are numbered s0, s1, … in order of appearance. Raises InputError.
    """
    rows = list(_rows(path))
    titled, notes = _titled(rows, options.titles)
    questions: dict[str, str] = {}
    parts: dict[str, str] = {}
    sentences: dict[str, str] = {}  # text -> id
    labels: dict[tuple[str, str], int] = {}
    conflicts = 0
    for row in rows:
        questions[row.question_id], parts[row.question_id] = row.question, row.part
        text = f"{row.title}{BETWEEN_TEXTS}{row.sentence}" if titled and row.title else row.sentence
        pair = row.question_id, sentences.setdefault(text, f"s{len(sentences)}")
        label = int(row.label == "1")
        conflicts += labels.get(pair, label) != label
        labels[pair] = max(labels.get(pair, 0), label)
    counts = f"The {len(rows):,} rows have {len(sentences):,} distinct sentences, each one text of the right list"
    notes.append(f"{counts}; {len(rows) - len(labels):,} rows repeat a sentence of their question, which counts once.")
    return Released(
        "wikiqa",
        [Text(name, text) for name, text in questions.items()],
        [Text(name, text) for text, name in sentences.items()],
        [GivenPair(*pair, label) for pair, label in labels.items()],
        parts,
        conflicts,
        notes,
        titled,
    )


def _rows(path: Path) -> Iterator[LabelledSentence]:
    parquet = path / "wikiqa.parquet" if path.is_dir() else path
    if parquet.is_file():
        yield from (LabelledSentence(*values) for _, values in read_rows(parquet, PARQUET))
        return
    for part in PARTS:
        file = path / f"WikiQA-{part}.tsv"
        if not file.is_file():
            raise InputError(f"{path}: this folder has neither {file.name} nor wikiqa.parquet")
        yield from (LabelledSentence(part, *values) for _, values in read_rows(file, RELEASED))


def _titled(rows: list[LabelledSentence], titles: Titles) -> tuple[bool, list[str]]:
    """Return whether titles precede the sentences, and a note if some are missing."""
    missing = sum(not row.title for row in rows)
    if titles == Titles.NEVER or not missing:
        return titles != Titles.NEVER, []
    if titles == Titles.ALWAYS:
        return True, [f"{missing:,} of {len(rows):,} rows have no title: their sentences are used without one."]
    note = f"{missing:,} of {len(rows):,} rows have no title: all titles are left out (--titles always keeps them)."
    return False, [note]
