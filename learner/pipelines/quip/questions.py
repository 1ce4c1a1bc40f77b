"""The stages that generate questions: train a generator, then write questions for each passage.

Source: Jia, Lewis and Zettlemoyer (2022), section 2.2.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress
from allpairs.learner.backbones.generator import generate_several, load_generator, train_generator
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.noise import pseudo_questions
from allpairs.learner.pipelines.quip.shards import each_shard, read_shards, shard_size

SEPARATOR = " | "  # between answer and question; one token of most vocabularies
STRIDE = 1_000_003  # between the seeds of two runs' shards


@dataclass(frozen=True)
class Question:
    """A question on the passage of this number, and the answer that was generated with it.

    start: where the answer begins in the passage; −1 if it does not occur.
    """

    passage: int
    question: str
    answer: str
    start: int


def generator_target(answer: str, question: str) -> str:
    """Return the text that a generator is trained to write."""
    return f"{answer.strip()}{SEPARATOR}{question.strip()}"


def parse_generated(text: str) -> tuple[str, str] | None:
    """Return answer and question of a generated text, or None if one is missing."""
    answer, _, question = (part.strip() for part in text.partition(SEPARATOR.strip()))
    return (answer, question) if answer and question else None


def train_writer(run: Run, folder: Path, progress: Progress) -> None:
    """Train the generator and save it in the folder; do nothing without questions to train on."""
    examples = QuipTexts(run).examples
    config = run.config
    if not examples:
        return
    settings = config.generator.model_copy(update={"seed": config.seed})
    generator = load_generator(settings.backbone, settings.decoder_layers, config.seed, copying=settings.copying)
    targets = [generator_target(example.answer, example.question) for example in examples]
    train_generator(generator, [example.passage for example in examples], targets, settings, progress)
    generator.save(folder)


def write_questions(run: Run, folder: Path, progress: Progress) -> None:
    """Write the questions on all passages to the folder, in shards."""
    texts = QuipTexts(run)
    size = passages_per_shard(run)
    make = _by_generator(run) if texts.examples else _by_noise(run)

    def work(passages: list[str], number: int, part: Progress) -> dict[str, Any]:
        return make(passages, number * size, run.config.seed * STRIDE + number, part)

    each_shard(folder, texts.parts(size), -(-len(texts) // size), work, progress)
    if not any(read_written(folder)):
        raise InputError(
            "the generator wrote no answer with a question for any passage: train it longer (generator.epochs), or "
            "choose another one"
        )


def passages_per_shard(run: Run) -> int:
    """Return the number of passages in each shard of the run."""
    return shard_size(len(QuipTexts(run)), run.config.shard)


def read_written(folder: Path) -> Iterator[list[Question]]:
    """Yield the questions of each shard."""
    return (shard_questions(shard) for shard in read_shards(folder))


def shard_questions(shard: Mapping[str, Any]) -> list[Question]:
    """Return the questions of one shard's file."""
    return [Question(**fields) for fields in shard["questions"]]


def _by_generator(run: Run) -> Any:
    settings = run.config.generator
    generator = load_generator(str(run.of("generator")))

    def make(passages: Sequence[str], first: int, seed: int, progress: Progress) -> dict[str, Any]:
        count = settings.each if settings.decoding == "sample" else 1
        texts_by_passage = generate_several(generator, passages, count, settings, progress, seed)
        pairs = [(row, parse_generated(text)) for row, texts in enumerate(texts_by_passage) for text in texts]
        questions = [asdict(question_of(first + row, passages[row], *pair)) for row, pair in pairs if pair is not None]
        return {"questions": questions, "malformed": len(pairs) - len(questions)}

    return make


def _by_noise(run: Run) -> Any:
    count = run.config.generator.each

    def make(passages: Sequence[str], first: int, seed: int, progress: Progress) -> dict[str, Any]:
        questions = unsupervised(passages, first, count, np.random.default_rng([seed, 1]))
        return {"questions": [asdict(question) for question in questions], "malformed": 0}

    return make


def unsupervised(passages: Sequence[str], first: int, count: int, rng: np.random.Generator) -> list[Question]:
    """Return unsupervised questions on these passages, sentences with noise; the first passage has this number."""
    return [
        Question(number, pseudo.question, pseudo.answer, pseudo.start)
        for number, passage in enumerate(passages, first)
        for pseudo in pseudo_questions(passage, count, rng)
    ]


def question_of(number: int, passage: str, answer: str, question: str) -> Question:
    """Return the question on the passage of this number; the answer's first occurrence counts, in any case."""
    match = re.search(re.escape(answer), passage, re.IGNORECASE)  # lower() would shift the text after a letter like İ
    return Question(number, question, answer, match.start() if match else -1)
