"""Sentiment without labels, and rationales (Jia, Lewis and Zettlemoyer 2022, section 4.7, Tables 5 and 6)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from allpairs.db.progress import Progress
from allpairs.learner.backbones.opinions import Opinions, product_scores, questions_of
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.span_reader import load_reader
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.masked import TEMPLATE, load_masked_reader
from allpairs.learner.pipelines.quip.sentiment import first_vectors, mean_scores, rationales, read_scores
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.uses.rows import Rows, by_dataset, some

ANSWERS = "answers"  # to both questions of a prompt
MASKED = "masked word"  # the way of a model with a masked-language-model head
SHOWN = 5  # rationales to keep for each label
Scores = Callable[[Sequence[str], Sequence[str]], np.ndarray]  # of questions and texts: (texts, questions)


def measure_sentiment(run: Run, model: Model, rows: Rows, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield accuracy by data set and prompt, calibrated or not, and a bi-encoder's best prompt's rationales."""
    settings, parts = run.config.sentiment, by_dataset(rows)
    yield from _masked(run, model, parts)
    todo = [(name, way, score) for name in parts for way, score in _ways(run, model).items()]
    for at, (name, way, score) in enumerate(todo):
        mine = some(parts[name], settings.most, run.config.seed)
        texts, labels = [row["text"] for row in mine], np.array([row["label"] for row in mine])
        progress(f"{name}, {way}", at / len(todo))
        questions = [question for prompt in settings.prompts for question in questions_of(prompt)]
        scores, calibration = score(questions, texts), score(questions, settings.words).mean(axis=0)
        found = []
        for number, prompt in enumerate(settings.prompts):
            two = slice(2 * number, 2 * number + 2)
            opinions = Opinions(scores[:, two], calibration[two])
            found.append((prompt, opinions))
            yield {"dataset": name, "use": way, "prompt": prompt, **_accuracy(opinions, labels)}
        if model.kind == "bi-encoder":
            best = max(found, key=lambda one: float((one[1].predicted() == labels).mean()))
            yield {"dataset": name, "use": "rationales", "prompt": best[0],
                   "rows": _reasons(run, model, best[0], texts, labels, best[1])}  # fmt: skip


def _masked(run: Run, model: Model, parts: dict[str, Rows]) -> Iterator[dict[str, Any]]:
    """Yield the same for the masked word of an encoder with such a head and no further training."""
    reader = load_masked_reader(model.source) if model.kind == "bare" else None
    for name in parts if reader else ():
        assert reader is not None
        mine = some(parts[name], run.config.sentiment.most, run.config.seed)
        scores = reader.scores([row["text"] for row in mine])
        opinions = Opinions(scores, reader.scores(run.config.sentiment.words).mean(axis=0))
        labels = np.array([row["label"] for row in mine])
        yield {"dataset": name, "use": MASKED, "prompt": TEMPLATE.strip(), **_accuracy(opinions, labels)}


def _accuracy(opinions: Opinions, labels: np.ndarray) -> dict[str, Any]:
    return {
        "texts": len(labels),
        "accuracy": float((opinions.predicted() == labels).mean()),
        "uncalibrated": float((opinions.predicted(calibrated=False) == labels).mean()),
    }


def _ways(run: Run, model: Model) -> dict[str, Scores]:
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


def _reasons(
    run: Run, model: Model, prompt: str, texts: Sequence[str], labels: np.ndarray, opinions: Opinions
) -> list[dict[str, Any]]:
    """Return rationales for the predicted label of the first correctly classified texts of each label."""
    predicted = opinions.predicted()
    chosen = [i for label in (0, 1) for i in np.flatnonzero((labels == label) & (predicted == label))[:SHOWN].tolist()]
    asked = [questions_of(prompt)[predicted[i]] for i in chosen]
    config = run.config
    biencoder = load_biencoder(model.source)
    spans = rationales(biencoder, asked, [texts[i] for i in chosen], config.sentiment.rationale, config.student)
    return [
        {"text": texts[i], "label": int(labels[i]), "predicted": int(predicted[i]), "rationale": span,
         "scores": opinions.scores[i].tolist(), "calibration": opinions.calibration.tolist()}
        for i, span in zip(chosen, spans, strict=True)
    ]  # fmt: skip
