"""The stage that trains the models that the student is compared with.

Source: Jia, Lewis and Zettlemoyer (2022), sections 4.2 and 4.8.
"""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.biencoder_training import AskedPassages
from allpairs.learner.backbones.span_reader import Example, load_reader, train_reader
from allpairs.learner.pipelines.pipeline import Run, finish
from allpairs.learner.pipelines.quip.inputs import Texts
from allpairs.learner.pipelines.quip.questions import Question, read_written, unsupervised
from allpairs.learner.pipelines.quip.student import (
    CROSS,
    SKIPPED,
    TEACHER,
    asked,
    generated,
    known_questions,
    shards_of,
    slug,
    teach,
    warm_start,
)
from allpairs.learner.pipelines.quip.teacher import SIDES, Places, asked_again, confident, read_labels, relabelled
from allpairs.learner.pipelines.quip.two_stage import two_stage


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


def _questions(run: Run) -> list[Question]:
    return [one for shard in read_written(run.of("questions")) for one in shard]


def _without_teacher(
    passages: Sequence[str], questions: Sequence[Question], places: Places, first: int = 0
) -> AskedPassages:
    """Label each question with its own answer, or with "no answer here" if it is not in the passage."""
    texts = [passages[one.passage - first] for one in questions]
    spans = [(one.start, one.start + len(one.answer)) for one in questions]
    starts, ends = (places.hard(texts, spans, side) for side in SIDES)
    return asked(passages, questions, (starts, ends), first)


def _no_question_generation(run: Run, folder: Path, progress: Progress) -> None:
    """Train on the known questions alone, which a student with a warm start has done."""
    if (known := warm_start(run)) is not None:
        shutil.copytree(known, folder, dirs_exist_ok=True)
    else:
        teach(run, folder, [known_questions(run, Texts(run).examples)], progress)


def _gold_answers(run: Run, folder: Path, progress: Progress) -> None:
    """Train on as many known questions as were written, whole passages of them, with their right answers."""
    of: dict[str, list[Example]] = {}
    for one in Texts(run).others:
        of.setdefault(one.passage, []).append(one)
    order = np.random.default_rng([run.config.seed, 7]).permutation(len(of))
    drawn = [one for mine in (list(of.values())[i] for i in order) for one in mine]
    teach(run, folder, [known_questions(run, drawn[: len(_questions(run))])], progress)


def _no_teacher(run: Run, folder: Path, progress: Progress) -> None:
    places = Places(run.config)
    parts = (_without_teacher(passages, questions, places, first) for passages, first, questions in shards_of(run))
    teach(run, folder, parts, progress)


def _unsupervised(run: Run, folder: Path, progress: Progress) -> None:
    questions = _without_teacher(Texts(run).passages, unsupervised(run), Places(run.config))
    teach(run, folder, [questions], progress, warm=False)


def _concatenated(run: Run, folder: Path, progress: Progress) -> None:
    teach(run, folder, generated(run), progress, concatenated=True)


def _hard_labels(run: Run, folder: Path, progress: Progress) -> None:
    parts = (replace(part, start=part.start.hardest(), end=part.end.hardest()) for part in generated(run))
    teach(run, folder, parts, progress)


def _two_stage(run: Run, folder: Path, progress: Progress) -> None:
    """Train on the teacher's answers to questions that were generated in two stages."""
    config, passages = run.config, Texts(run).passages
    questions = two_stage(run, part_of(progress, 0.0, 0.4))
    if not questions:
        _skip(folder, "the generator wrote no answer with a question; train it longer (generator.epochs)")
        return
    reader, texts = load_reader(str(run.of("teacher"))), [passages[one.passage] for one in questions]
    words, hear = [one.question for one in questions], part_of(progress, 0.4, 0.6)
    labels = relabelled(reader, words, texts, config.teacher, Places(config), hear)
    sure = confident(questions, labels, config.teacher)
    if sure[0]:
        teach(run, folder, [asked(passages, *sure)], part_of(progress, 0.6, 1.0))
    else:
        _skip(folder, "the teacher is sure of no answer; lower teacher.least_confidence")


def _skip(folder: Path, why: str) -> None:
    (folder / SKIPPED).write_text(why, encoding="utf-8")


def _cross_encoder(run: Run, folder: Path, progress: Progress) -> None:
    """Train a model of the teacher's shape on the teacher's best spans alone."""
    config, passages = run.config, Texts(run).passages
    sure = confident(_questions(run), read_labels(run.of("targets")), config.teacher)
    found = asked_again(*sure, passages, Places(config), config.teacher.longest_answer)
    examples = [Example(one.question, passages[one.passage], passages[one.passage][a:b], a) for one, a, b in found]
    reader = load_reader(config.teacher.backbone, config.seed)
    settings = config.teacher.model_copy(update={"seed": config.seed, "steps": None, "epochs": config.student.epochs})
    train_reader(reader, examples, settings, progress)
    reader.save(folder)


VARIANTS: dict[str, Callable[[Run, Path, Progress], None]] = {
    "no question generation": _no_question_generation,
    "no teacher": _no_teacher,
    CROSS: _cross_encoder,
    "unsupervised questions": _unsupervised,
    "concatenated passages": _concatenated,
    "hard labels": _hard_labels,
    "two-stage beam": _two_stage,
    "gold answers": _gold_answers,
}
