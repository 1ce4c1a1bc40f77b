"""The files of few-shot mining from a published data set: few pairs as seeds, lists to mine in, the rest to measure.

Source: Joshi et al. (2022), sections 4 and 5, who mine in answers.com and Wikipedia, or in CC-News; here the lists are
the data set's own training texts.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from allpairs.db.corpus.files import file_errors_explained, read_rows
from allpairs.db.errors import InputError
from allpairs.learner.models.likely_sentence import sentences
from allpairs.learner.pipelines.quip.asked import QuestionWithAnswers, read_questions
from allpairs.learner.published.released import CsvTable, Options, write_csv_table

DRAWN = 100  # seed pairs, and as many development pairs
PAIR = ("x", "y")
ANSWERED = ("x", "answer", "passage")
LISTED = ("id", "text")
SQUAD = {"train": "train-v1.1.json", "test": "dev-v1.1.json"}
XSUM_SPLIT = "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json"
XSUM_PARTS = ("train", "validation", "test")
TABLES = (".jsonl", ".parquet", ".csv")
Tables = dict[str, CsvTable]
Article = tuple[str, str]  # document and summary


def read_squad(path: Path, options: Options) -> Tables:
    """Read SQuAD 1.1's two JSON files in the folder: train to mine in, dev to test. Raises InputError."""
    train, test = (read_questions(_there(path, name)) for name in SQUAD.values())
    order = _shuffled(len(train), options.seed)
    passages = {text: f"p{row}" for row, text in enumerate(dict.fromkeys(question.passage for question in train))}
    seeds, dev, rest = (
        [train[row] for row in order[part]] for part in (slice(DRAWN), slice(DRAWN, 2 * DRAWN), slice(2 * DRAWN, None))
    )
    return {
        "seed": CsvTable(ANSWERED, _answers(seeds)),
        "dev": CsvTable(ANSWERED, _answers(dev)),
        "test": CsvTable(ANSWERED, _answers(test)),
        "questions": CsvTable(LISTED, [(f"q{row}", question.question) for row, question in enumerate(rest)]),
        "passages": CsvTable(LISTED, [(name, text) for text, name in passages.items()]),
        "gold": CsvTable(
            ("id1", "id2", "answer"),
            [
                (f"q{row}", passages[question.passage], answer)
                for row, question in enumerate(rest)
                for answer in question.answers
            ],
        ),
    }


def read_xsum(path: Path, options: Options) -> Tables:
    """Read XSum's folder: its .summary files with the published split, or a table of each part. Raises InputError.

    The articles' first sentences are the summaries: mining looks for them among all sentences of the training articles.
    """
    parts = _summaries(path) if (path / XSUM_SPLIT).is_file() else _tables(path)
    train = parts["train"]
    order = _shuffled(len(train), options.seed)
    seeds = [train[row] for row in order[:DRAWN]]
    rest = [train[row] for row in order[DRAWN:]]
    listed = [
        (f"d{row}s{number}", line)
        for row, (document, summary) in enumerate(rest)
        for number, line in enumerate([summary, *(document[start:end] for start, end in sentences(document))])
    ]
    return {
        "seed": CsvTable(PAIR, seeds),
        "dev": CsvTable(PAIR, parts["validation"][:DRAWN]),
        "test": CsvTable(PAIR, parts["test"]),
        "documents": CsvTable(LISTED, [(f"d{row}", document) for row, (document, _) in enumerate(rest)]),
        "sentences": CsvTable(LISTED, listed),
        "gold": CsvTable(("id1", "id2"), [(f"d{row}", f"d{row}s0") for row in range(len(rest))]),
    }


READERS: dict[str, Callable[[Path, Options], Tables]] = {"squad": read_squad, "xsum": read_xsum}


def write_few_shot(name: str, path: Path, folder: Path, options: Options) -> dict[str, int]:
    """Write the tables of the data set to the folder; return the rows of each by name. Raises InputError."""
    tables = READERS[name](path, options)
    if short := [part for part, table in tables.items() if not table.rows]:
        raise InputError(f"{path}: nothing is left for {short[0]}.csv: name the folder of the whole data set")
    folder.mkdir(parents=True, exist_ok=True)
    for part, table in tables.items():
        write_csv_table(table, folder / f"{part}.csv")
    return {f"{part}.csv": len(table.rows) for part, table in tables.items()}


def _there(path: Path, name: str) -> Path:
    if not (path / name).is_file():
        raise InputError(f"{path}: this folder has no {name}: name the folder of the released files")
    return path / name


def _shuffled(n: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation(n).tolist()


def _answers(questions: Iterable[QuestionWithAnswers]) -> list[tuple[str, str, str]]:
    return [(question.question, answer, question.passage) for question in questions for answer in question.answers]


def _tables(path: Path) -> dict[str, list[Article]]:
    """Return the articles of the tables with the columns document and summary, such as train.jsonl."""
    articles = {}
    for part in XSUM_PARTS:
        files = [path / f"{part}{kind}" for kind in TABLES if (path / f"{part}{kind}").is_file()]
        if not files:
            raise InputError(f"{path}: neither {XSUM_SPLIT} nor {part}.jsonl is there: name the folder of XSum")
        rows = (row.values for row in read_rows(files[0], ("document", "summary")))
        articles[part] = _whole(rows)
    return articles


def _summaries(path: Path) -> dict[str, list[Article]]:
    """Return the articles of the published split, of those that the folder has; many have left the web."""
    with file_errors_explained(path / XSUM_SPLIT):
        split: dict[str, list[str]] = json.loads((path / XSUM_SPLIT).read_text(encoding="utf-8"))
    files = {file.stem: file for file in path.rglob("*.summary")}
    if absent := [part for part in XSUM_PARTS if part not in split]:
        raise InputError(f"{XSUM_SPLIT}: there is no part {absent[0]!r}: download the file again")
    return {part: _whole(_article(files[name]) for name in split[part] if name in files) for part in XSUM_PARTS}


def _article(file: Path) -> Article:
    """Return document and summary of a .summary file, whose sections follow a line of the kind [SN]NAME[SN]."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("[SN]") and line.endswith("[SN]"):
            lines = sections.setdefault(line.removeprefix("[SN]").removesuffix("[SN]"), [])
        else:
            lines.append(line)
    return "\n".join(sections.get("RESTBODY", [])).strip(), " ".join(sections.get("FIRST-SENTENCE", [])).strip()


def _whole(articles: Iterable[Sequence[str]]) -> list[Article]:
    """Return the articles that have both parts."""
    return [(document, summary) for document, summary in articles if document.strip() and summary.strip()]
