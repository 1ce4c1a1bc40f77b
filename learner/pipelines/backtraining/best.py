"""The stage that uses the best models: a passage for each question, and questions about some passages."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.generator import generate
from allpairs.learner.pipelines.backtraining.cell import ADAPTED, DONE, Cell, figures_in
from allpairs.learner.pipelines.backtraining.files import Asked
from allpairs.learner.pipelines.backtraining.measure import likelihoods
from allpairs.learner.pipelines.backtraining.source import GENERATOR, RETRIEVER
from allpairs.learner.pipelines.backtraining.texts import Data, data_of
from allpairs.learner.pipelines.backtraining.training import MODEL, generator_in, retriever_in
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.search import exact as search

BEST = "best"
PAIRS = "pairs.jsonl"
QUESTIONS = "questions.jsonl"
SOURCE_ONLY = "no adaptation"


@dataclass(frozen=True)
class Chosen:
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


def chosen(run: Run, kind: str) -> Chosen:
    """Return the best generator or retriever of the first seed, of all variants and the source."""
    cells = [
        Cell(run, run.config.seed, variant, run.of(ADAPTED) / f"seed-{run.config.seed}" / variant)
        for variant in dict.fromkeys(run.config.variants)
    ]
    found = [Chosen(SOURCE_ONLY, 0, cells[0].models(0))]
    for cell in cells:
        iteration = json.loads((cell.folder / DONE).read_text(encoding="utf-8"))[kind]
        if iteration:
            found.append(Chosen(cell.variant, iteration, cell.models(iteration)))
    return min(found, key=lambda one: _worth(figures_in(one.folder)["dev"], kind))


def _worth(dev: dict[str, float], kind: str) -> float:
    return dev["nll"] if kind == GENERATOR else -dev["mrr"]


def model_of(one: Chosen, kind: str) -> Path:
    """Return the folder of the chosen model."""
    return one.folder / kind / MODEL


def use_best(run: Run, folder: Path, progress: Progress) -> None:
    """Write each question with its passage, nearest first, and questions about passages, to the folder."""
    data = data_of(run)
    generator = generator_in(chosen(run, GENERATOR).folder / GENERATOR)
    retriever = retriever_in(chosen(run, RETRIEVER).folder / RETRIEVER)
    passages = [one.text for one in data.passages]
    questions = [one.text for one in data.questions]
    vectors = retriever.passage.encode(passages, part_of(progress, 0.0, 0.4))
    found = search.neighbours(retriever.query.encode(questions, part_of(progress, 0.4, 0.6)), vectors, 1, False)
    _write(folder / PAIRS, _ranked(data, found.ids[:, 0], found.scores[:, 0]))
    some = data.passages[: run.config.wanted]
    written = generate(generator, [one.text for one in some], run.config.generator, part_of(progress, 0.6, 1.0))
    asked = [Asked(question, one.text) for question, one in zip(written, some, strict=True)]
    losses = likelihoods(generator, asked, run.config.generator).tolist()
    rows = [
        {"passage_id": text.id, "question": one.question, "passage": one.passage, "nll": loss}
        for text, one, loss in zip(some, asked, losses, strict=True)
    ]
    _write(folder / QUESTIONS, rows)


def _ranked(data: Data, rows: np.ndarray, scores: np.ndarray) -> Iterable[dict[str, Any]]:
    """Yield every question with its passage in the format of mined pairs, without source pairs."""
    known = {(one.question, one.passage) for one in data.source}
    order = [
        at
        for at in np.argsort(-scores, kind="stable").tolist()
        if (data.questions[at].text, data.passages[rows[at]].text) not in known
    ]
    for rank, at in enumerate(order, start=1):
        question = data.questions[at]
        passage = data.passages[rows[at]]
        texts = {"x_id": question.id, "y_id": passage.id, "x": question.text, "y": passage.text}
        figures = {"cos": float(scores[at]), "margin": None, "cross_score": None, "rank": rank}
        yield {**texts, **figures, "source": "retrieved"}


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
