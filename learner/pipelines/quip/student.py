"""The stages that train the student and the models it is compared with.

Source: Jia, Lewis and Zettlemoyer (2022), sections 2.4, 4.2 and 4.8.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.biencoder_training import AskedPassages, Sparse, train_biencoder
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.span_reader import Example, load_reader, train_reader
from allpairs.learner.pipelines.pipeline import Run, finish
from allpairs.learner.pipelines.quip.inputs import Texts
from allpairs.learner.pipelines.quip.questions import Question, questions_of, read_written, size_of, unsupervised
from allpairs.learner.pipelines.quip.shards import read_shard, write_speed
from allpairs.learner.pipelines.quip.teacher import SIDES, Places, asked_again, labels_of, read_labels, relabelled
from allpairs.learner.pipelines.quip.two_stage import two_stage

UNTRAINED, QUIP = "encoder before", "QuIP"
Kind = Literal["bare", "bi-encoder", "cross-encoder"]
SKIPPED = "skipped.txt"  # in the folder of a variant that could not be trained: why
SENTENCES_NOISY, TEACHER, CROSS = "unsupervised questions", "teacher", "cross-encoder student"


@dataclass(frozen=True)
class Model:
    """A model to measure: a folder or hub name, and how it reads."""

    name: str
    kind: Kind
    source: str


def models_of(run: Run) -> list[Model]:
    """Return the encoder before pre-training, after it, and every variant that could be trained."""
    config, without = run.config, skipped(run)
    found = [Model(UNTRAINED, "bare", config.student.backbone), Model(QUIP, "bi-encoder", str(run.of("student")))]
    for name in dict.fromkeys(config.variants):
        if name in without:
            continue
        if name == TEACHER:
            found.append(Model(name, "cross-encoder", str(run.of("teacher"))))
        else:
            kind: Kind = "cross-encoder" if name == CROSS else "bi-encoder"
            found.append(Model(name, kind, str(run.of("variants") / slug(name))))
    return found


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
    learned = _train(run, folder, generated(run), progress)
    write_speed(folder, learned, time.perf_counter() - began)


def train_variants(run: Run, folder: Path, progress: Progress) -> None:
    """Train each variant into a folder of its own, unless it exists already."""
    names = [name for name in dict.fromkeys(run.config.variants) if name != TEACHER]
    for at, name in enumerate(names):

        def part(words: str, done: float, at: int = at, name: str = name) -> None:
            progress(f"{name}, {words}", (at + done) / len(names))

        def train(partial: Path, name: str = name, hear: Progress = part) -> None:
            partial.mkdir()
            VARIANTS[name](run, partial, hear)

        finish(folder / slug(name), train)


def generated(run: Run) -> Iterator[AskedPassages]:
    """Yield the generated questions with the teacher's labels, shard by shard."""
    for number, (passages, first, questions) in enumerate(_shards(run)):
        if questions:
            yield _asked(passages, questions, labels_of(read_shard(run.of("targets"), number)), first)


def _train(
    run: Run, folder: Path, parts: Iterable[AskedPassages], progress: Progress, concatenated: bool = False
) -> int:
    """Train a student, save it in the folder, and return the number of questions seen, repetitions included."""
    settings = run.config.student.model_copy(update={"seed": run.config.seed})
    biencoder = load_biencoder(settings.backbone, run.config.seed)
    learned = train_biencoder(biencoder, parts, settings, progress, concatenated, scratch=folder)
    biencoder.save(folder)
    return learned


def _shards(run: Run) -> Iterator[tuple[list[str], int, list[Question]]]:
    """Yield the passages of each shard, the number of the first one, and the questions on them."""
    first = 0
    for number, passages in enumerate(Texts(run).parts(size_of(run))):
        yield passages, first, questions_of(read_shard(run.of("questions"), number))
        first += len(passages)


def _questions(run: Run) -> list[Question]:
    return [one for shard in read_written(run.of("questions")) for one in shard]


def _asked(
    passages: Sequence[str], questions: Sequence[Question], labels: tuple[Sparse, Sparse], first: int = 0
) -> AskedPassages:
    """Return the questions on these passages, of which the first one has this number."""
    of = np.array([one.passage - first for one in questions], dtype=np.int64)
    return AskedPassages(passages, [one.question for one in questions], of, *labels)


def _without_teacher(
    passages: Sequence[str], questions: Sequence[Question], places: Places, first: int = 0
) -> AskedPassages:
    """Label each question with its own answer, or with "no answer here" if it is not in the passage."""
    texts = [passages[one.passage - first] for one in questions]
    spans = [(one.start, one.start + len(one.answer)) for one in questions]
    starts, ends = (places.hard(texts, spans, side) for side in SIDES)
    return _asked(passages, questions, (starts, ends), first)


def _no_question_generation(run: Run, folder: Path, progress: Progress) -> None:
    examples, places = Texts(run).examples, Places(run.config)
    passages = list(dict.fromkeys(one.passage for one in examples))
    number = {passage: at for at, passage in enumerate(passages)}
    spans = [(one.answer_start, one.answer_start + len(one.answer)) for one in examples]
    first, last = (places.hard([one.passage for one in examples], spans, side) for side in SIDES)
    of = np.array([number[one.passage] for one in examples], dtype=np.int64)
    _train(run, folder, [AskedPassages(passages, [one.question for one in examples], of, first, last)], progress)


def _no_teacher(run: Run, folder: Path, progress: Progress) -> None:
    places = Places(run.config)
    parts = (_without_teacher(passages, questions, places, first) for passages, first, questions in _shards(run))
    _train(run, folder, parts, progress)


def _unsupervised(run: Run, folder: Path, progress: Progress) -> None:
    _train(run, folder, [_without_teacher(Texts(run).passages, unsupervised(run), Places(run.config))], progress)


def _concatenated(run: Run, folder: Path, progress: Progress) -> None:
    _train(run, folder, generated(run), progress, concatenated=True)


def _hard_labels(run: Run, folder: Path, progress: Progress) -> None:
    parts = (replace(part, start=part.start.hardest(), end=part.end.hardest()) for part in generated(run))
    _train(run, folder, parts, progress)


def _two_stage(run: Run, folder: Path, progress: Progress) -> None:
    """Train on the teacher's answers to questions that were generated in two stages."""
    config, passages = run.config, Texts(run).passages
    questions = two_stage(run, part_of(progress, 0.0, 0.4))
    if not questions:
        why = "the generator wrote no answer with a question; train it longer (generator.epochs)"
        (folder / SKIPPED).write_text(why, encoding="utf-8")
        return
    reader, texts = load_reader(str(run.of("teacher"))), [passages[one.passage] for one in questions]
    asked, hear = [one.question for one in questions], part_of(progress, 0.4, 0.6)
    labels = relabelled(reader, asked, texts, config.teacher, Places(config), hear)
    _train(run, folder, [_asked(passages, questions, labels)], part_of(progress, 0.6, 1.0))


def _cross_encoder(run: Run, folder: Path, progress: Progress) -> None:
    """Train a model of the teacher's shape on the teacher's best spans alone."""
    config, passages = run.config, Texts(run).passages
    labels = read_labels(run.of("targets"))
    found = asked_again(_questions(run), passages, labels, Places(config), config.teacher.longest_answer)
    examples = [Example(one.question, passages[one.passage], passages[one.passage][a:b], a) for one, a, b in found]
    reader = load_reader(config.teacher.backbone, config.seed)
    settings = config.teacher.model_copy(update={"seed": config.seed, "steps": None, "epochs": config.student.epochs})
    train_reader(reader, examples, settings, progress)
    reader.save(folder)


VARIANTS: dict[str, Callable[[Run, Path, Progress], None]] = {
    "no question generation": _no_question_generation,
    "no teacher": _no_teacher,
    CROSS: _cross_encoder,
    SENTENCES_NOISY: _unsupervised,
    "concatenated passages": _concatenated,
    "hard labels": _hard_labels,
    "two-stage beam": _two_stage,
}
