"""Reading as the use of mined answers: a span reader trained on them answers the test questions."""

from collections.abc import Iterable

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.span_reader import Example, answer, load_reader, train_reader
from allpairs.learner.catalog.mining import MiningConfig
from allpairs.learner.metrics.text import exact_match, token_f1
from allpairs.learner.pipelines.mining.downstream.added import Added
from allpairs.learner.pipelines.mining.inputs import Texts
from allpairs.learner.pipelines.mining.negatives import Asked
from allpairs.learner.pipelines.mining.reading import ANSWER, PASSAGE, START


class Reading:
    """Answers the test questions; a question in several rows with the same passage has several right answers."""

    def __init__(self, config: MiningConfig, texts: Texts) -> None:
        self.texts, self.settings = texts, config.reader
        self.right: dict[tuple[str, str], list[str]] = {}
        for one in texts.test_asked:
            self.right.setdefault((one.question, one.passage), []).append(one.answer)

    def figures(self, added: Added, seed: int, progress: Progress) -> dict[str, float]:
        """Return exact match and token F1 after training on the seed questions and these."""
        settings = self.settings.model_copy(update={"seed": seed})
        reader = load_reader(settings.backbone, seed)
        examples = [*_with_start(self.texts.asked), *_mined(added)]
        train_reader(reader, examples, settings, lambda stage, done: progress(stage, done / 2))
        questions, passages = zip(*self.right, strict=True)
        found = answer(reader, questions, passages, settings, lambda stage, done: progress(stage, 0.5 + done / 2))
        both = list(zip((one.text for one in found), self.right.values(), strict=True))
        return {
            "exact_match": float(np.mean([exact_match(text, right) for text, right in both])),
            "token_f1": float(np.mean([token_f1(text, right) for text, right in both])),
        }


def _mined(added: Added) -> list[Example]:
    """Return the pairs as questions with the spans that answer them."""
    spans = (added.texts.y.take(added.rows[:, 1], name) for name in (PASSAGE, ANSWER, START))
    return [
        Example(question, passage, text, int(start))
        for question, passage, text, start in zip(added.x, *spans, strict=True)
    ]


def _with_start(asked: Iterable[Asked]) -> list[Example]:
    """Return the questions whose answer occurs in the passage, with its first occurrence."""
    return [
        Example(one.question, one.passage, one.answer, one.passage.index(one.answer))
        for one in asked
        if one.answer in one.passage
    ]
