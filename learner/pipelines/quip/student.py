"""The stages of the student and of what it is compared with (paper 003, sections 2.4, 4.2 and 4.8)."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from db.domain import Progress
from learner.backbones.biencoder_training import AskedPassages, Sparse, train_biencoder
from learner.backbones.span_biencoder import load_biencoder
from learner.backbones.span_reader import Example, load_reader, train_reader
from learner.catalog.quip import QuipConfig
from learner.pipelines.pipeline import Run, finish
from learner.pipelines.quip.inputs import Texts
from learner.pipelines.quip.questions import Question, read_written, unsupervised
from learner.pipelines.quip.shards import write_speed
from learner.pipelines.quip.teacher import SIDES, Places, asked_again, read_labels

UNTRAINED, QUIP = "encoder before", "QuIP"
Kind = Literal["bare", "bi-encoder", "cross-encoder"]
SENTENCES_NOISY, TEACHER, CROSS = "unsupervised questions", "teacher", "cross-encoder student"


@dataclass(frozen=True)
class Model:
    """What is measured: a folder or hub name, and how it reads."""

    name: str
    kind: Kind
    source: str


def models_of(run: Run) -> list[Model]:
    """The encoder before pre-training, after it, and every variant."""
    config: QuipConfig = run.config
    found = [Model(UNTRAINED, "bare", config.student.backbone), Model(QUIP, "bi-encoder", str(run.of("student")))]
    for name in dict.fromkeys(config.variants):
        if name == TEACHER:
            found.append(Model(name, "cross-encoder", str(run.of("teacher"))))
        else:
            kind: Kind = "cross-encoder" if name == CROSS else "bi-encoder"
            found.append(Model(name, kind, str(run.of("variants") / slug(name))))
    return found


def slug(name: str) -> str:
    """The name as a folder has it."""
    return name.replace(" ", "-").lower()


def train_student(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder has the student, an encoder and two heads."""
    asked, began = generated(run), time.perf_counter()
    _train(run, folder, asked, progress)
    write_speed(folder, len(asked.questions) * run.config.student.epochs, time.perf_counter() - began)


def train_variants(run: Run, folder: Path, progress: Progress) -> None:
    """Nothing; the folder has a folder for each variant. One that is there is not trained again."""
    names = [name for name in dict.fromkeys(run.config.variants) if name != TEACHER]
    for at, name in enumerate(names):

        def part(words: str, done: float, at: int = at, name: str = name) -> None:
            progress(f"{name}, {words}", (at + done) / len(names))

        def train(aside: Path, name: str = name, hear: Progress = part) -> None:
            aside.mkdir()
            VARIANTS[name](run, aside, hear)

        finish(folder / slug(name), train)


def generated(run: Run) -> AskedPassages:
    """The written questions, with the teacher's labels."""
    return _asked(run, _questions(run), read_labels(run.of("targets")))


def _train(run: Run, folder: Path, asked: AskedPassages, progress: Progress, concatenated: bool = False) -> None:
    settings = run.config.student.model_copy(update={"seed": run.config.seed})
    biencoder = load_biencoder(settings.backbone, run.config.seed)
    train_biencoder(biencoder, asked, settings, progress, concatenated)
    biencoder.save(folder)


def _questions(run: Run) -> list[Question]:
    return [one for shard in read_written(run.of("questions")) for one in shard]


def _asked(run: Run, questions: Sequence[Question], labels: tuple[Sparse, Sparse]) -> AskedPassages:
    of = np.array([one.passage for one in questions], dtype=np.int64)
    return AskedPassages(Texts(run).passages, [one.question for one in questions], of, *labels)


def _without_teacher(run: Run, questions: Sequence[Question]) -> AskedPassages:
    """Labels are the answers that came with the questions; one that is not in its passage is "no answer here"."""
    texts, places = Texts(run), Places(run.config)
    passages = [texts.passages[one.passage] for one in questions]
    spans = [(one.start, one.start + len(one.answer)) for one in questions]
    first, last = (places.hard(passages, spans, side) for side in SIDES)
    return _asked(run, questions, (first, last))


def _no_question_generation(run: Run, folder: Path, progress: Progress) -> None:
    examples, places = Texts(run).examples, Places(run.config)
    passages = list(dict.fromkeys(one.passage for one in examples))
    number = {passage: at for at, passage in enumerate(passages)}
    spans = [(one.answer_start, one.answer_start + len(one.answer)) for one in examples]
    first, last = (places.hard([one.passage for one in examples], spans, side) for side in SIDES)
    of = np.array([number[one.passage] for one in examples], dtype=np.int64)
    _train(run, folder, AskedPassages(passages, [one.question for one in examples], of, first, last), progress)


def _no_teacher(run: Run, folder: Path, progress: Progress) -> None:
    _train(run, folder, _without_teacher(run, _questions(run)), progress)


def _unsupervised(run: Run, folder: Path, progress: Progress) -> None:
    _train(run, folder, _without_teacher(run, unsupervised(run)), progress)


def _concatenated(run: Run, folder: Path, progress: Progress) -> None:
    _train(run, folder, generated(run), progress, concatenated=True)


def _hard_labels(run: Run, folder: Path, progress: Progress) -> None:
    start, end = read_labels(run.of("targets"))
    _train(run, folder, _asked(run, _questions(run), (start.hardest(), end.hardest())), progress)


def _cross_encoder(run: Run, folder: Path, progress: Progress) -> None:
    """The teacher's shape, trained on the teacher's best spans alone."""
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
}
