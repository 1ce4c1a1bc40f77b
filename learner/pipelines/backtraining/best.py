"""The stage that uses the best models: a passage for each question, and questions about some passages."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.generator import generate
from allpairs.learner.pipelines.backtraining.cell import ADAPTED, FINISHED, VariantCell, figures_in
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.measure import likelihoods
from allpairs.learner.pipelines.backtraining.source import GENERATOR, RETRIEVER
from allpairs.learner.pipelines.backtraining.texts import Data, domain_data
from allpairs.learner.pipelines.backtraining.training import MODEL, generator_in, retriever_in
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.search import exact as search

BEST = "best"
PAIRS = "pairs.jsonl"
QUESTIONS = "questions.jsonl"
SOURCE_ONLY = "no adaptation"


@dataclass(frozen=True)
class ChosenModel:
    """The best model of a kind on the development pairs: its variant, iteration and folder."""

    variant: str
    iteration: int
    folder: Path

    @property
    def title(self) -> str:
        """Its origin in words."""
        return titled(self.variant, self.iteration)


def titled(variant: str, iteration: int) -> str:
    """Return a description of the models after an iteration of a variant; 0: the source models."""
    return f"{variant}, iteration {iteration}" if iteration else variant


def best_model_of(run: Run, kind: str) -> ChosenModel:
    """Return the best generator or retriever of the first seed, of all variants and the source."""
    cells = [
        VariantCell(run, run.config.seed, variant, run.of(ADAPTED) / f"seed-{run.config.seed}" / variant)
        for variant in dict.fromkeys(run.config.variants)
    ]
    models = [ChosenModel(SOURCE_ONLY, 0, cells[0].models(0))]
    for cell in cells:
        iteration = json.loads((cell.folder / FINISHED).read_text(encoding="utf-8"))[kind]
        if iteration:
            models.append(ChosenModel(cell.variant, iteration, cell.models(iteration)))
    return min(models, key=lambda model: _worth(figures_in(model.folder)["dev"], kind))


def _worth(dev: dict[str, float], kind: str) -> float:
    return dev["nll"] if kind == GENERATOR else -dev["mrr"]


def model_of(model: ChosenModel, kind: str) -> Path:
    """Return the folder of the chosen model."""
    return model.folder / kind / MODEL


def use_best(run: Run, folder: Path, progress: Progress) -> None:
    """Write each question with its passage, nearest first, and questions about passages, to the folder."""
    data = domain_data(run)
    generator = generator_in(best_model_of(run, GENERATOR).folder / GENERATOR)
    retriever = retriever_in(best_model_of(run, RETRIEVER).folder / RETRIEVER)
    passages = [text.text for text in data.passages]
    questions = [text.text for text in data.questions]
    vectors = retriever.passage.encode(passages, part_of(progress, 0.0, 0.4))
    nearest = search.neighbours(retriever.query.encode(questions, part_of(progress, 0.4, 0.6)), vectors, 1, False)
    _write(folder / PAIRS, _ranked(data, nearest.ids[:, 0], nearest.scores[:, 0]))
    read = data.passages[: run.config.wanted]
    written = generate(generator, [text.text for text in read], run.config.generator, part_of(progress, 0.6, 1.0))
    pairs = [PassageQuestion(question, text.text) for question, text in zip(written, read, strict=True)]
    losses = likelihoods(generator, pairs, run.config.generator).tolist()
    rows = [
        {"passage_id": text.id, "question": pair.question, "passage": pair.passage, "nll": loss}
        for text, pair, loss in zip(read, pairs, losses, strict=True)
    ]
    _write(folder / QUESTIONS, rows)


def _ranked(data: Data, rows: np.ndarray, scores: np.ndarray) -> Iterable[dict[str, Any]]:
    """Yield every question with its passage in the format of mined pairs, without source pairs."""
    known = {(pair.question, pair.passage) for pair in data.source}
    order = [
        row
        for row in np.argsort(-scores, kind="stable").tolist()
        if (data.questions[row].text, data.passages[rows[row]].text) not in known
    ]
    for rank, row in enumerate(order, start=1):
        question = data.questions[row]
        passage = data.passages[rows[row]]
        texts = {"x_id": question.id, "y_id": passage.id, "x": question.text, "y": passage.text}
        figures = {"cos": float(scores[row]), "margin": None, "cross_score": None, "rank": rank}
        yield {**texts, **figures, "source": "retrieved"}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
