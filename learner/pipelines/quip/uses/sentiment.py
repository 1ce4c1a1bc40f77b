"""Sentiment without labels, and rationales (Jia, Lewis and Zettlemoyer 2022, section 4.7, Tables 5 and 6)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.opinions import Opinions, product_scores, prompt_questions
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.span_reader import load_reader
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.masked import TEMPLATE, load_masked_reader
from allpairs.learner.pipelines.quip.sentiment import first_vectors, mean_scores, rationales, read_scores
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.uses.rows import Rows, by_dataset, sample_rows

ANSWERS = "answers"  # to both questions of a prompt
MASKED = "masked word"  # the way of a model with a masked-language-model head
CHOOSING = "SST-2"  # where the paper chose the best prompt for all data sets
RATIONALES_EACH = 5  # rationales to keep for each label
Scores = Callable[[Sequence[str], Sequence[str]], np.ndarray]  # of questions and texts: (texts, questions)


def measure_sentiment(run: Run, model: Model, rows: Rows, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield accuracy by data set and prompt, calibrated or not, and a bi-encoder's rationales.

    Their prompt is the one that is best on `choosing_dataset`, as in the paper.
    """
    settings = run.config.sentiment
    parts = by_dataset(rows)
    yield from _masked(run, model, parts)
    by_name: dict[str, _Found] = {}
    todo = [(name, way, score) for name in parts for way, score in scores_by_way(run, model).items()]
    for place, (name, way, score) in enumerate(todo):
        chosen = sample_rows(parts[name], settings.most, run.config.seed)
        texts = [row["text"] for row in chosen]
        labels = np.array([row["label"] for row in chosen])
        progress(f"{name}, {way}", place / len(todo))
        prompts = settings.prompts_of(name)
        questions = [question for prompt in prompts for question in prompt_questions(prompt)]
        scores = score(questions, texts)
        calibration = score(questions, settings.words).mean(axis=0)
        two = [slice(2 * number, 2 * number + 2) for number in range(len(prompts))]
        opinions = [Opinions(scores[:, columns], calibration[columns]) for columns in two]
        for prompt, opinion in zip(prompts, opinions, strict=True):
            yield {"dataset": name, "use": way, "prompt": prompt, **_accuracy(opinion, labels)}
        by_name[name] = _Found(texts, labels, prompts, opinions)
    if model.kind == "bi-encoder":
        best = by_name[choosing_dataset(list(parts))].best
        for name, dataset in by_name.items():
            yield {
                "dataset": name,
                "use": "rationales",
                "prompt": dataset.prompts[best],
                "rows": _reasons(run, model, dataset, best),
            }


def choosing_dataset(names: Sequence[str]) -> str:
    """Return the data set that chooses a prompt for all of them: SST-2 if it is there, else the first."""
    return CHOOSING if CHOOSING in names else names[0]


@dataclass(frozen=True)
class _Found:
    """A data set's opinions by prompt."""

    texts: list[str]
    labels: np.ndarray
    prompts: list[str]
    opinions: list[Opinions]

    @property
    def best(self) -> int:
        """The number of the most accurate prompt, the first of several."""
        return int(np.argmax([(opinion.predicted() == self.labels).mean() for opinion in self.opinions]))


def _masked(run: Run, model: Model, parts: dict[str, Rows]) -> Iterator[dict[str, Any]]:
    """Yield the same for the masked word of an encoder with such a head and no further training."""
    reader = load_masked_reader(model.source) if model.kind == "bare" else None
    for name in parts if reader else ():
        assert reader is not None
        sample = sample_rows(parts[name], run.config.sentiment.most, run.config.seed)
        scores = reader.scores([row["text"] for row in sample])
        opinions = Opinions(scores, reader.scores(run.config.sentiment.words).mean(axis=0))
        labels = np.array([row["label"] for row in sample])
        yield {"dataset": name, "use": MASKED, "prompt": TEMPLATE.strip(), **_accuracy(opinions, labels)}


def _accuracy(opinions: Opinions, labels: np.ndarray) -> dict[str, Any]:
    return {
        "texts": len(labels),
        "accuracy": float((opinions.predicted() == labels).mean()),
        "uncalibrated": float((opinions.predicted(calibrated=False) == labels).mean()),
    }


def scores_by_way(run: Run, model: Model) -> dict[str, Scores]:
    """Return the model's ways to score questions with texts, by name; a bare encoder has two, as it lacks heads."""
    config = run.config
    if model.kind == "bi-encoder":
        biencoder = load_biencoder(model.source)
        length = config.student.question_length
        return {ANSWERS: lambda q, t: product_scores(biencoder.encoder, biencoder.asked_many(q, length), t)}
    if model.kind == "cross-encoder":
        reader = load_reader(model.source)
        return {ANSWERS: lambda q, t: read_scores(reader, q, t, config.teacher)}
    encoder = load_token_encoder(model.source)
    return {
        ANSWERS: lambda q, t: product_scores(encoder, first_vectors(encoder, q), t),
        "mean vectors": lambda q, t: mean_scores(encoder, q, t),
    }


def _reasons(run: Run, model: Model, dataset: _Found, number: int) -> list[dict[str, Any]]:
    """Return rationales for the predicted label of the first correctly classified texts of each label."""
    texts = dataset.texts
    labels = dataset.labels
    opinions = dataset.opinions[number]
    predicted = opinions.predicted()
    chosen = [
        i
        for label in (0, 1)
        for i in np.flatnonzero((labels == label) & (predicted == label))[:RATIONALES_EACH].tolist()
    ]
    questions = [prompt_questions(dataset.prompts[number])[predicted[i]] for i in chosen]
    config = run.config
    biencoder = load_biencoder(model.source)
    spans = rationales(biencoder, questions, [texts[i] for i in chosen], config.sentiment.rationale, config.student)
    return [
        {
            "text": texts[i],
            "label": int(labels[i]),
            "predicted": int(predicted[i]),
            "rationale": span,
            "scores": opinions.scores[i].tolist(),
            "calibration": opinions.calibration.tolist(),
        }
        for i, span in zip(chosen, spans, strict=True)
    ]
