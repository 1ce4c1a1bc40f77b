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
from allpairs.learner.pipelines.quip.asked import Asked, read_questions

PASSAGES = "passages.jsonl"
BATCH = 100  # texts between two progress reports


class Texts:
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
        return [Example(**one) for one in _load(self.folder / "examples.json")]

    @cached_property
    def others(self) -> list[Example]:
        """The questions with answers that were not drawn for `examples`, or these where all were; for gold answers."""
        return [Example(**one) for one in _load(self.folder / "others.json")]

    @cached_property
    def tested(self) -> list[Asked]:
        """Questions that measure reading, and all those without an answer, which are only counted."""
        return [Asked(**one | {"answers": tuple(one["answers"])}) for one in _load(self.folder / "tested.json")]


def read_inputs(run: Run, folder: Path, progress: Progress) -> None:
    """Write passages, training questions and test questions to the folder."""
    config = run.config
    inputs = run.inputs
    rng = np.random.default_rng(config.seed)
    _write_passages(Path(inputs.passages), folder, config, rng, progress)
    asked = read_questions(Path(inputs.questions)) if inputs.questions else []
    cutter = _Cutter(config)
    drawn = _some(asked, config.questions, rng)
    held = [example for one in drawn for example in _placed(one, cutter)]
    if asked and not held:
        raise InputError(
            f"{Path(inputs.questions).name}: no passage contains its answer: correct the answers or passages"
        )
    _store(folder / "examples.json", [asdict(one) for one in held])
    if GOLD in config.variants:
        left = set(asked).difference(drawn)
        others = [example for one in asked if one in left for example in _placed(one, cutter)]
        _store(folder / "others.json", [asdict(one) for one in others or held])
    tested = read_questions(Path(inputs.reading)) if inputs.reading else []
    answered = _some([one for one in tested if one.answered], config.reading, rng)
    _store(folder / "tested.json", [asdict(one) for one in [*answered, *(one for one in tested if not one.answered)]])


def _write_passages(
    source: Path, folder: Path, config: QuipConfig, rng: np.random.Generator, progress: Progress
) -> None:
    """Write the distinct passages of all texts, or those drawn of them, in order; in memory is a digest of each."""
    texts = sum(1 for _ in read_rows(source, (TEXT,)))
    cutter = _Cutter(config)
    digests = bytearray()
    with TemporaryFile(dir=folder) as found, (folder / PASSAGES).open("wb") as kept:
        for at, row in enumerate(read_rows(source, (TEXT,))):
            (text,) = row.values
            for line in (f"{json.dumps(text[a:b])}\n".encode() for a, b in cutter(text) if a < b):
                found.write(line)
                digests += blake2b(line, digest_size=8).digest()
            if at % BATCH == 0:
                progress("cut passages", at / texts)
        if not digests:
            raise InputError("inputs.passages: all texts are empty: choose another file")
        distinct = np.sort(np.unique(np.frombuffer(digests, np.int64), return_index=True)[1])
        chosen = np.zeros(len(digests) // 8, dtype=bool)
        chosen[distinct[_rows(len(distinct), config.passages, rng)]] = True
        found.seek(0)
        kept.writelines(compress(found, chosen))


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


def _placed(asked: Asked, cutter: _Cutter) -> list[Example]:
    """Return the question with the part of its passage that contains the whole answer; empty if no part does."""
    answer = asked.answers[0] if asked.answers else ""
    if asked.start < 0 or not answer or not asked.question:
        return []
    for start, end in cutter(asked.passage):
        if start <= asked.start and asked.start + len(answer) <= end:
            return [Example(asked.question, asked.passage[start:end], answer, asked.start - start)]
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
    found: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
