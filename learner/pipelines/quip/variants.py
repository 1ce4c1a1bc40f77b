"""The stage that trains the models that the student is compared with.

Source: Jia, Lewis and Zettlemoyer (2022), sections 4.2 and 4.8.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.biencoder_training import AskedPassages
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.span_reader import Example, load_reader, train_reader
from allpairs.learner.pipelines.pipeline import Run, finish
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.questions import Question, passages_per_shard, read_written, unsupervised
from allpairs.learner.pipelines.quip.student import (
    CROSS,
    SKIPPED,
    TEACHER,
    asked_passages,
    generated,
    known_questions,
    labelled_shards,
    numbered_passages,
    shards_of,
    slug,
    teach,
)
from allpairs.learner.pipelines.quip.teacher import SIDES, TokenPlaces, answered_again, relabelled
from allpairs.learner.pipelines.quip.two_stage import two_stage


def train_quip_variants(run: Run, folder: Path, progress: Progress) -> None:
    """Train each variant into a folder of its own, unless it exists already."""
    names = [name for name in dict.fromkeys(run.config.variants) if name != TEACHER]
    for place, name in enumerate(names):
        part = part_of(progress, place / len(names), (place + 1) / len(names), f"{name}, ")

        def train(partial: Path, name: str = name, progress: Progress = part) -> None:
            partial.mkdir()
            VARIANTS[name](run, partial, progress)

        finish(folder / slug(name), train)


def _without_teacher(
    passages: Sequence[str], first: int, questions: Sequence[Question], places: TokenPlaces
) -> AskedPassages:
    """Label each question with its own answer, or with "no answer here" if it is not in the passage."""
    texts = [passages[question.passage - first] for question in questions]
    spans = [(question.start, question.start + len(question.answer)) for question in questions]
    starts, ends = (places.hard(texts, spans, side) for side in SIDES)
    return asked_passages(passages, first, questions, (starts, ends))


def _no_question_generation(run: Run, folder: Path, progress: Progress) -> None:
    """Train on the known questions alone."""
    teach(run, folder, [known_questions(run, QuipTexts(run).examples)], progress)


def _gold_answers(run: Run, folder: Path, progress: Progress) -> None:
    """Train on as many known questions as were written, whole passages of them, with their right answers."""
    by_passage: dict[str, list[Example]] = {}
    for example in QuipTexts(run).others:
        by_passage.setdefault(example.passage, []).append(example)
    order = np.random.default_rng([run.config.seed, 7]).permutation(len(by_passage))
    drawn = [example for examples in (list(by_passage.values())[i] for i in order) for example in examples]
    written = sum(len(shard) for shard in read_written(run.of("questions")))
    teach(run, folder, [known_questions(run, drawn[:written])], progress)


def _no_teacher(run: Run, folder: Path, progress: Progress) -> None:
    places = TokenPlaces(run.config)
    teach(run, folder, (_without_teacher(*part, places) for part in shards_of(run)), progress)


def _unsupervised(run: Run, folder: Path, progress: Progress) -> None:
    places = TokenPlaces(run.config)
    count = run.config.generator.each
    rng = np.random.default_rng([run.config.seed, 1])
    parts = (
        _without_teacher(passages, first, unsupervised(passages, first, count, rng), places)
        for passages, first in numbered_passages(run)
    )
    teach(run, folder, parts, progress)


def _concatenated(run: Run, folder: Path, progress: Progress) -> None:
    teach(run, folder, generated(run), progress, concatenated=True)


def _hard_labels(run: Run, folder: Path, progress: Progress) -> None:
    parts = (replace(part, start=part.start.hardest(), end=part.end.hardest()) for part in generated(run))
    teach(run, folder, parts, progress)


class _NothingToLearnError(InputError):
    """There is no question for this variant, for the reason that the message gives."""


def _two_stage(run: Run, folder: Path, progress: Progress) -> None:
    """Train on the teacher's answers to questions that were generated in two stages."""
    try:
        teach(run, folder, _in_two_stages(run, part_of(progress, 0.0, 0.6)), part_of(progress, 0.6, 1.0))
    except _NothingToLearnError as error:
        (folder / SKIPPED).write_text(str(error), encoding="utf-8")


def _in_two_stages(run: Run, progress: Progress) -> Iterator[AskedPassages]:
    """Yield the questions shard by shard. Raises _NothingToLearnError at the end if there were none."""
    config = run.config
    places = TokenPlaces(run.config)
    generator = load_generator(str(run.of("generator")))
    reader = load_reader(str(run.of("teacher")))
    count = -(-len(QuipTexts(run)) // passages_per_shard(run))
    written = 0
    for number, (passages, first) in enumerate(numbered_passages(run)):
        part = part_of(progress, number / count, (number + 1) / count)
        questions = two_stage(generator, passages, first, config.generator, part_of(part, 0.0, 0.7))
        texts = [passages[question.passage - first] for question in questions]
        words = [question.question for question in questions]
        labels = relabelled(reader, words, texts, config.teacher, places, part_of(part, 0.7, 1.0))
        written += len(questions)
        if questions:
            yield asked_passages(passages, first, questions, labels)
    if not written:
        raise _NothingToLearnError("the generator wrote no answer with a question; train it longer (generator.epochs)")


def _cross_encoder(run: Run, folder: Path, progress: Progress) -> None:
    """Train a model of the teacher's shape on the teacher's best spans alone."""
    config = run.config
    places = TokenPlaces(run.config)
    examples = (
        example
        for part in labelled_shards(run)
        for example in answered_again(*part, places, config.teacher.longest_answer)
    )
    reader = load_reader(config.teacher.backbone, config.seed)
    settings = config.teacher.model_copy(update={"seed": config.seed, "steps": None, "epochs": config.student.epochs})
    train_reader(reader, examples, settings, progress, scratch=folder)
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
