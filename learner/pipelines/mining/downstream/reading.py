"""Reading as the use of mined answers: a span reader trained on them answers the test questions."""

from collections.abc import Iterable, Mapping
from functools import partial

import numpy as np

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.span_reader import Example, SpanReader, answer, load_reader, train_reader
from allpairs.learner.light.catalog.backbones import ReaderSettings
from allpairs.learner.light.catalog.mining import MiningConfig
from allpairs.learner.metrics.text import exact_match, token_f1
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer
from allpairs.learner.pipelines.mining.answers.reading import ANSWER, PASSAGE, START
from allpairs.learner.pipelines.mining.development import best_model, watch_of
from allpairs.learner.pipelines.mining.downstream.added import Added
from allpairs.learner.pipelines.mining.inputs import MiningTexts


class AnswerReading:
    """Answers the test questions."""

    def __init__(self, config: MiningConfig, texts: MiningTexts) -> None:
        self.texts = texts
        self.config = config
        self.test = _answers(texts.test_asked)
        self.dev = _answers(texts.dev_asked)

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return exact match and token F1 after training on the seed questions and these."""
        settings = self.config.reader.model_copy(update={"seed": seed})
        examples = [*_with_start(self.texts.asked), *_mined(added)]

        def train(chosen: ReaderSettings, part: Progress) -> tuple[SpanReader, BestWeights | None]:
            reader = load_reader(chosen.backbone, seed)
            measure = partial(_token_f1, reader, self.dev, chosen) if self.dev else None
            best = watch_of([reader.model], measure, self.config.development, chosen.learning_rate)
            train_reader(reader, examples, chosen, part, best)
            return reader, best

        reader, _ = best_model(settings, self.config.development, train, part_of(progress, 0.0, 0.5))
        return _figures(reader, self.test, settings, part_of(progress, 0.5, 1.0))


def _answers(questions: Iterable[PassageAnswer]) -> dict[tuple[str, str], list[str]]:
    """Return the right answers of each question on a passage: in several rows it has several."""
    answers: dict[tuple[str, str], list[str]] = {}
    for question in questions:
        answers.setdefault((question.question, question.passage), []).append(question.answer)
    return answers


def _token_f1(reader: SpanReader, right: Mapping[tuple[str, str], list[str]], settings: ReaderSettings) -> float:
    return _figures(reader, right, settings)["token_f1"]


def _figures(
    reader: SpanReader,
    right: Mapping[tuple[str, str], list[str]],
    settings: ReaderSettings,
    progress: Progress = no_progress,
) -> dict[str, float]:
    questions, passages = zip(*right, strict=True)
    spans = answer(reader, questions, passages, settings, progress)
    compared = list(zip((span.text for span in spans), right.values(), strict=True))
    return {
        "exact_match": float(np.mean([exact_match(text, answers) for text, answers in compared])),
        "token_f1": float(np.mean([token_f1(text, answers) for text, answers in compared])),
    }


def _mined(added: Added) -> list[Example]:
    """Return the pairs as questions with the spans that answer them."""
    spans = (added.texts.y.take(added.rows[:, 1], name) for name in (PASSAGE, ANSWER, START))
    return [
        Example(question, passage, text, int(start))
        for question, passage, text, start in zip(added.x, *spans, strict=True)
    ]


def _with_start(questions: Iterable[PassageAnswer]) -> list[Example]:
    """Return the questions whose answer occurs in the passage, with its first occurrence."""
    return [
        Example(question.question, question.passage, question.answer, question.passage.index(question.answer))
        for question in questions
        if question.answer in question.passage
    ]
