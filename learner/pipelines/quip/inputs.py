"""The first stage: passages of whole sentences, and questions that train generator and teacher."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import blake2b
from itertools import compress, islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.backbones.loading import load_tokenizer
from allpairs.learner.backbones.passage_cutting import passages_of, split_at
from allpairs.learner.backbones.span_reader import Example
from allpairs.learner.light.catalog.quip import GOLD, QuipConfig
from allpairs.learner.models.loading import loading
from allpairs.learner.pipelines.mining.texts import TEXT
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.asked import QuestionWithAnswers, read_questions

PASSAGES = "passages.jsonl"
BATCH = 100  # texts between two progress reports


class QuipTexts:
    """The results of the first stage."""

    def __init__(self, run: Run) -> None:
        self.folder = run.of("texts")

    def __len__(self) -> int:
        """Return the number of passages."""
        with (self.folder / PASSAGES).open("rb") as lines:
            return sum(1 for _ in lines)

    def parts(self, size: int) -> Iterator[list[str]]:
        """Yield the passages to write questions for, `size` at a time, keeping no others in memory."""
        with (self.folder / PASSAGES).open() as lines:
            while part := [json.loads(line) for line in islice(lines, size)]:
                yield part

    @cached_property
    def examples(self) -> list[Example]:
        """Questions with the passage that contains their answer."""
        return [Example(**fields) for fields in _load(self.folder / "examples.json")]

    @cached_property
    def others(self) -> list[Example]:
        """The questions with answers that were not drawn for `examples`, or these where all were; for gold answers."""
        return [Example(**fields) for fields in _load(self.folder / "others.json")]

    @cached_property
    def tested(self) -> list[QuestionWithAnswers]:
        """Questions that measure reading, and all those without an answer, which are only counted."""
        return [
            QuestionWithAnswers(**fields | {"answers": tuple(fields["answers"])})
            for fields in _load(self.folder / "tested.json")
        ]


def read_quip_inputs(run: Run, folder: Path, progress: Progress) -> None:
    """Write passages, training questions and test questions to the folder."""
    config = run.config
    inputs = run.inputs
    rng = np.random.default_rng(config.seed)
    _write_passages(Path(inputs.passages), folder, config, rng, progress)
    questions = read_questions(Path(inputs.questions)) if inputs.questions else []
    cutter = _Cutter(config)
    drawn = _some(questions, config.questions, rng)
    examples = [example for question in drawn for example in _placed(question, cutter)]
    if questions and not examples:
        raise InputError(
            f"{Path(inputs.questions).name}: no passage contains its answer: correct the answers or passages"
        )
    _store(folder / "examples.json", [asdict(example) for example in examples])
    if GOLD in config.variants:
        left = set(questions).difference(drawn)
        rest = [example for question in questions if question in left for example in _placed(question, cutter)]
        _store(folder / "others.json", [asdict(example) for example in rest or examples])
    tested = read_questions(Path(inputs.reading)) if inputs.reading else []
    answered = _some([question for question in tested if question.answered], config.reading, rng)
    unanswered = [question for question in tested if not question.answered]
    _store(folder / "tested.json", [asdict(question) for question in (*answered, *unanswered)])


def _write_passages(
    source: Path, folder: Path, config: QuipConfig, rng: np.random.Generator, progress: Progress
) -> None:
    """Write the distinct passages of all texts, or those drawn of them, in order; in memory is a digest of each."""
    texts = sum(1 for _ in read_rows(source, (TEXT,)))
    cutter = _Cutter(config)
    digests = bytearray()
    with TemporaryFile(dir=folder) as drafts, (folder / PASSAGES).open("wb") as target:
        for number, row in enumerate(read_rows(source, (TEXT,))):
            (text,) = row.values
            for line in (f"{json.dumps(text[a:b])}\n".encode() for a, b in cutter(text) if a < b):
                drafts.write(line)
                digests += blake2b(line, digest_size=8).digest()
            if number % BATCH == 0:
                progress("cut passages", number / texts)
        if not digests:
            raise InputError("inputs.passages: all texts are empty: choose another file")
        distinct = np.sort(np.unique(np.frombuffer(digests, np.int64), return_index=True)[1])
        chosen = np.zeros(len(digests) // 8, dtype=bool)
        chosen[distinct[_rows(len(distinct), config.passages, rng)]] = True
        drafts.seek(0)
        target.writelines(compress(drafts, chosen))


class _Cutter:
    """Cuts texts to the student's length. It remembers the last one, since a passage's questions are adjacent."""

    def __init__(self, config: QuipConfig) -> None:
        self.limit = config.student.passage_length
        self.last: tuple[str, list[tuple[int, int]]] = ("", [])
        with loading(config.student.backbone) as source:
            self.tokenizer = load_tokenizer(source)

    def __call__(self, text: str) -> list[tuple[int, int]]:
        """Return the character spans of the text's passages."""
        if text != self.last[0]:
            self.last = (text, self._cut(text))
        return self.last[1]

    def _cut(self, text: str) -> list[tuple[int, int]]:
        spans = passages_of(text, self.limit, self._count)
        return [part for span in spans for part in split_at(span, self._tokens(text, span), text, self.limit)]

    def _tokens(self, text: str, span: tuple[int, int]) -> list[tuple[int, int]]:
        read = self.tokenizer(text[slice(*span)], add_special_tokens=False, return_offsets_mapping=True, verbose=False)
        return [(span[0] + a, span[0] + b) for a, b in read["offset_mapping"]]

    def _count(self, text: str) -> int:
        return len(self.tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])


def _placed(question: QuestionWithAnswers, cutter: _Cutter) -> list[Example]:
    """Return the question with the part of its passage that contains the whole answer; empty if no part does."""
    answer = question.answers[0] if question.answers else ""
    if question.start < 0 or not answer or not question.question:
        return []
    for start, end in cutter(question.passage):
        if start <= question.start and question.start + len(answer) <= end:
            return [Example(question.question, question.passage[start:end], answer, question.start - start)]
    return []


def _some(rows: Sequence[Any], most: int | None, rng: np.random.Generator) -> list[Any]:
    """Return a random sample of so many rows, in their order."""
    return [rows[i] for i in _rows(len(rows), most, rng)]


def _rows(n: int, most: int | None, rng: np.random.Generator) -> np.ndarray:
    """Return so many random numbers below n, ascending."""
    return np.arange(n) if most is None or most >= n else np.sort(rng.permutation(n)[:most])


def _store(path: Path, rows: Sequence[Any]) -> None:
    path.write_text(json.dumps(rows), encoding="utf-8")


def _load(path: Path) -> list[Any]:
    rows: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return rows
