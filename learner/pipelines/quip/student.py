"""The stages that train the student, and the models that are measured.

Source: Jia, Lewis and Zettlemoyer (2022), section 2.4.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.backbones.biencoder_training import AskedPassages, Sparse, train_biencoder
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.span_reader import Example
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.questions import Question, passages_per_shard, shard_questions
from allpairs.learner.pipelines.quip.shards import read_shard, write_speed
from allpairs.learner.pipelines.quip.teacher import SIDES, TokenPlaces, shard_labels

UNTRAINED = "encoder before"
QUIP = "QuIP"
Kind = Literal["bare", "bi-encoder", "cross-encoder"]
Labelled = tuple[list[str], int, list[Question], tuple[Sparse, Sparse]]
SKIPPED = "skipped.txt"  # in the folder of a variant that could not be trained: why
TEACHER = "teacher"
CROSS = "cross-encoder student"


@dataclass(frozen=True)
class Model:
    """A model to measure: a folder or hub name, and how it reads."""

    name: str
    kind: Kind
    source: str


def models_of(run: Run) -> list[Model]:
    """Return the encoder before pre-training, after it, and every variant that could be trained."""
    config = run.config
    without = skipped(run)
    models = [Model(UNTRAINED, "bare", config.student.backbone), Model(QUIP, "bi-encoder", str(run.of("student")))]
    for name in dict.fromkeys(config.variants):
        if name in without:
            continue
        if name == TEACHER:
            models.append(Model(name, "cross-encoder", str(run.of("teacher"))))
        else:
            kind: Kind = "cross-encoder" if name == CROSS else "bi-encoder"
            models.append(Model(name, kind, str(run.of("variants") / slug(name))))
    return models


def skipped(run: Run) -> dict[str, str]:
    """Return why a variant could not be trained, by the names of those that could not."""
    files = {name: run.of("variants") / slug(name) / SKIPPED for name in run.config.variants}
    return {name: file.read_text(encoding="utf-8") for name, file in files.items() if file.is_file()}


def slug(name: str) -> str:
    """Return the name as used for a folder."""
    return name.replace(" ", "-").lower()


def train_student(run: Run, folder: Path, progress: Progress) -> None:
    """Train the student, an encoder and two heads, and save it in the folder."""
    began = time.perf_counter()
    learned = teach(run, folder, generated(run), progress)
    write_speed(folder, learned, time.perf_counter() - began)


def generated(run: Run) -> Iterator[AskedPassages]:
    """Yield the generated questions with the teacher's labels, shard by shard.

    Raises InputError at the end if there were none.
    """
    return (asked_passages(*part) for part in labelled_shards(run))


def labelled_shards(run: Run) -> Iterator[Labelled]:
    """Yield the same as passages, the number of the first one, questions on them, and labels."""
    empty = True
    for number, (passages, first, questions) in enumerate(shards_of(run)):
        if questions:
            empty = False
            yield passages, first, questions, shard_labels(read_shard(run.of("targets"), number))
    if empty:
        raise InputError("there is no written question to learn from: train the generator longer (generator.epochs)")


def teach(
    run: Run, folder: Path, parts: Iterable[AskedPassages], progress: Progress, concatenated: bool = False
) -> int:
    """Train a student, save it in the folder, and return the number of questions seen, repetitions included."""
    settings = run.config.student.model_copy(update={"seed": run.config.seed})
    biencoder = load_biencoder(settings.backbone, run.config.seed)
    learned = train_biencoder(biencoder, parts, settings, progress, concatenated, scratch=folder)
    biencoder.save(folder)
    return learned


def known_questions(run: Run, examples: Sequence[Example]) -> AskedPassages:
    """Return these questions with their right answers as labels."""
    places = TokenPlaces(run.config)
    passages = list(dict.fromkeys(example.passage for example in examples))
    number = {passage: row for row, passage in enumerate(passages)}
    spans = [(example.answer_start, example.answer_start + len(example.answer)) for example in examples]
    first, last = (places.hard([example.passage for example in examples], spans, side) for side in SIDES)
    rows = np.array([number[example.passage] for example in examples], dtype=np.int64)
    return AskedPassages(passages, [example.question for example in examples], rows, first, last)


def shards_of(run: Run) -> Iterator[tuple[list[str], int, list[Question]]]:
    """Yield the passages of each shard, the number of the first one, and the questions on them."""
    for number, (passages, first) in enumerate(numbered_passages(run)):
        yield passages, first, shard_questions(read_shard(run.of("questions"), number))


def numbered_passages(run: Run) -> Iterator[tuple[list[str], int]]:
    """Yield the passages of each shard, and the number of the first one."""
    size = passages_per_shard(run)
    return ((passages, number * size) for number, passages in enumerate(QuipTexts(run).parts(size)))


def asked_passages(
    passages: Sequence[str], first: int, questions: Sequence[Question], labels: tuple[Sparse, Sparse]
) -> AskedPassages:
    """Return the questions on these passages, of which the first one has this number."""
    rows = np.array([question.passage - first for question in questions], dtype=np.int64)
    return AskedPassages(passages, [question.question for question in questions], rows, *labels)
