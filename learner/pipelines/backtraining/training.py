"""Train both models on questions with passages; each training leaves a folder with the model and a log."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.generator import TextGenerator, load_generator, nll, train_generator
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.light.catalog.backtraining import BackTrainingConfig
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models.bi_encoder_training import (
    Lesson,
    Retriever,
    load_retriever,
    new_retriever,
    train_retriever,
)
from allpairs.learner.models.watch import Watch
from allpairs.learner.pipelines.backtraining.files import PassageQuestion

MODEL = "model"
LOG = "log.json"
POINTS = 12  # steps of a training at which perplexity is recorded, or up to twice as many


def source_generator(config: BackTrainingConfig, seed: int) -> tuple[TextGenerator, GeneratorSettings]:
    """Return the untrained generator and its settings for the source pairs."""
    settings = config.generator.model_copy(update={"seed": seed})
    return load_generator(settings.backbone, settings.decoder_layers, seed, copying=settings.copying), settings


def adapting_generator(config: BackTrainingConfig, seed: int, supervised: bool = False) -> GeneratorSettings:
    """Return a generator's settings for further training."""
    adaptation = config.adaptation
    epochs = adaptation.supervised_epochs if supervised else adaptation.generator_epochs
    rate = adaptation.generator_rate
    return config.generator.model_copy(update={"seed": seed, "steps": None, "epochs": epochs, "learning_rate": rate})


def adapting_retriever(config: BackTrainingConfig, n: int) -> RetrieverSettings:
    """Return a retriever's settings for further training on n pairs."""
    adaptation = config.adaptation
    settings = config.retriever
    steps = adaptation.retriever_epochs * -(-n // settings.batch_size)
    return settings.model_copy(update={"steps": steps, "learning_rate": adaptation.retriever_rate})


def teach_generator(
    folder: Path,
    generator: TextGenerator,
    pairs: Sequence[PassageQuestion],
    settings: GeneratorSettings,
    watched: Sequence[PassageQuestion],
    progress: Progress,
) -> None:
    """Save the trained model, and its perplexity on training and `watched` pairs, in the folder.

    Without pairs the model stays unchanged.
    """
    began = time.monotonic()
    trace = Trace(generator, watched, settings)
    if pairs:
        sources = [pair.passage for pair in pairs]
        targets = [pair.question for pair in pairs]
        train_generator(generator, sources, targets, settings, progress, trace if watched else None)
    generator.save(folder / MODEL)
    _log(folder, pairs=len(pairs), seconds=time.monotonic() - began, trace=trace.points)


class Trace(Watch):
    """Notes a generator's perplexity in its training: on the step's pairs, and on the watched ones."""

    def __init__(
        self, generator: TextGenerator, watched: Sequence[PassageQuestion], settings: GeneratorSettings
    ) -> None:
        super().__init__(2 * POINTS + 1, 3)
        self.generator = generator
        self.watched = watched
        self.settings = settings

    @property
    def points(self) -> list[dict[str, Any]]:
        """The steps so far, each with both perplexities."""
        return [{"step": int(step), "train": train, "test": test} for step, train, test in self.noted]

    def __call__(self, step: int, steps: int, loss: float = 0.0) -> None:
        """Note both if it is time to, which it is after the first step and the last."""
        if step == 1 or step == steps or step % max(1, steps // POINTS) == 0:
            texts = [pair.passage for pair in self.watched], [pair.question for pair in self.watched]
            losses = nll(self.generator, *texts, self.settings)
            self.note(step, float(np.exp(loss)), float(np.exp(losses.mean())))


def teach_retriever(
    folder: Path, retriever: Retriever, lesson: Lesson, settings: RetrieverSettings, seed: int, progress: Progress
) -> None:
    """Save the trained model in the folder. Without pairs it stays unchanged."""
    began = time.monotonic()
    if len(lesson.pairs):
        train_retriever(retriever, lesson, settings, seed, progress)
    (folder / MODEL).mkdir(parents=True)
    retriever.save(folder / MODEL)
    _log(folder, pairs=len(lesson.pairs), seconds=time.monotonic() - began)


def lesson_with(questions: Sequence[str], passages: Sequence[str], rows: np.ndarray, wrong: np.ndarray) -> Lesson:
    """Return a lesson of questions with the rows (n,) of their passages and of wrong ones (n, k)."""
    place = {text: number for number, text in enumerate(dict.fromkeys(questions))}
    question_rows = np.array([place[text] for text in questions], dtype=np.int64)
    return Lesson(list(place), passages, np.column_stack([question_rows, rows]).astype(np.int64), wrong)


def generator_in(folder: Path) -> TextGenerator:
    """Return the generator trained into the folder."""
    return load_generator(str(folder / MODEL))


def retriever_in(folder: Path) -> Retriever:
    """Return the retriever trained into the folder."""
    return load_retriever(folder / MODEL)


def first_retriever(config: BackTrainingConfig) -> Retriever:
    """Return the untrained retriever."""
    return new_retriever(config.retriever)


def training_log(folder: Path) -> dict[str, Any]:
    """Return a training's log."""
    log: dict[str, Any] = json.loads((folder / LOG).read_text(encoding="utf-8"))
    return log


def _log(folder: Path, **figures: Any) -> None:
    (folder / LOG).write_text(json.dumps(figures), encoding="utf-8")
