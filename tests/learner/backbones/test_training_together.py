"""Trainings whose loss is a sum over rows: several processes learn what one learns."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from allpairs.learner.backbones import length_batches
from allpairs.learner.backbones.biencoder_training import AskedPassages, Sparse, train_biencoder
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking import training as reranking
from allpairs.learner.backbones.reranking.reranker import Reading
from allpairs.learner.backbones.reranking.training import train_reranker
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.span_reader import Example, SpanReader, answer, load_reader, train_reader
from allpairs.learner.light.catalog.backbones import GeneratorSettings, ReaderSettings
from allpairs.learner.light.catalog.multiview import RerankerSettings
from allpairs.learner.light.catalog.quip import Student
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.pipelines.backtraining.files import PassageQuestion
from allpairs.learner.pipelines.backtraining.training import LOG, teach_generator
from allpairs.learner.pipelines.multiview.inputs import RankingTexts
from allpairs.learner.pipelines.multiview.lists import write_texts
from allpairs.learner.pipelines.multiview.mixing import streams_of
from allpairs.learner.pipelines.multiview.trainings import ranking_rows, right_rows
from allpairs.learner.runtime.training_group import PROCESSES
from tests.helpers.group_work import done_by, plain
from tests.helpers.tiny_backbones import tiny_backbone

THINGS = ("red apples", "blue boats", "old green cars", "cats", "very small dogs", "tall trees", "hats")
PASSAGES = [f"{thing} are sold here" + " and there" * (i % 3) for i, thing in enumerate(THINGS)]
QUESTIONS = [f"where are {thing} sold ?" for thing in THINGS]
STEPS = {"steps": 5, "batch_size": 4, "learning_rate": 1e-2}
TOLERANCE = 1e-5  # of a weight, where some steps change it by 10⁻²
Learned = tuple[nn.Module, list[float]]  # the network, and what was measured


def backbone(folder: Path, architecture: str) -> str:
    words = "Query: Document: Relevant: Translate Document to Query: true false"
    return str(tiny_backbone(folder, architecture, [*PASSAGES, *QUESTIONS, words]))


def steady(network: nn.Module) -> nn.Module:
    """Return the network without dropout, which every process draws for its own rows."""
    for module in network.modules():
        for name in ("p", "dropout", "attention_dropout", "activation_dropout"):
            if isinstance(getattr(module, name, None), float):
                setattr(module, name, 0.0)
    return network


def generator(folder: Path, architecture: str, **settings: Any) -> Learned:
    """Train a generator as back-training does, which traces its perplexity."""
    chosen = GeneratorSettings.model_validate({"decoder_rate": 1, "decoder_layers": 1} | STEPS | settings)
    model = load_generator(backbone(folder, architecture), 1, device="cpu", copying=chosen.copying)
    pairs = [PassageQuestion(passage, question) for passage, question in zip(PASSAGES, QUESTIONS, strict=True)]
    steady(model.model)
    teach_generator(folder, model, pairs, chosen, pairs[:2], lambda *_: None)
    trace = json.loads((folder / LOG).read_text(encoding="utf-8"))["trace"]
    assert [point["step"] for point in trace] == [1, 2, 3, 4, 5]
    return model.model, [value for point in trace for value in (point["train"], point["test"])]


def reader(folder: Path) -> Learned:
    """Train a reader that keeps the weights of its best step."""
    settings = ReaderSettings.model_validate({"max_length": 64, "stride": 8, "question_length": 16} | STEPS)
    model = load_reader(backbone(folder, "bert"), device="cpu")
    examples = [Example(q, p, thing, 0) for q, p, thing in zip(QUESTIONS, PASSAGES, THINGS, strict=True)]
    best = BestWeights([steady(model.model)], partial(_sureness, model, settings), 5, 1e-3)
    train_reader(model, examples, settings, watch=best)
    assert best.best is not None and best.best.value == pytest.approx(_sureness(model, settings), abs=1e-4)
    return model.model, [look.value for look in best.looks]


def _sureness(model: SpanReader, settings: ReaderSettings) -> float:
    """Return a measure that training changes."""
    return -sum(found.score for found in answer(model, QUESTIONS, PASSAGES, settings))


def student(folder: Path, concatenated: bool) -> Learned:
    """Train QuIP's student, and return how many questions it saw."""
    model = load_biencoder(backbone(folder, "bert"), device="cpu")
    settings = Student.model_validate({"passage_length": 40, "question_length": 12, "window_step": 30} | STEPS)
    of = np.array([0, 1, 1, 2, 3, 4, 5, 5, 6])
    label = Sparse(of[:, None] % 3 + 1, np.full((len(of), 1), 0.7, dtype=np.float32))
    asked = AskedPassages(PASSAGES, [QUESTIONS[row] for row in of], of, label, label)
    steady(model.network)
    return model.network, [train_biencoder(model, [asked], settings, concatenated=concatenated)]


def reranker(folder: Path) -> Learned:
    """Train a re-ranker on rows that are read from files."""
    write_texts(folder / "queries.arrow", ("id", "text"), enumerate_texts(QUESTIONS))
    write_texts(folder / "passages.arrow", ("id", "text"), enumerate_texts(PASSAGES))
    np.save(folder / "positives.npy", np.column_stack([np.arange(7)] * 2))
    texts, triples = RankingTexts(folder), np.column_stack([np.arange(7), np.arange(7), (np.arange(7) + 1) % 7])
    streams = streams_of(ranking_rows(texts, triples, "rank"), right_rows(texts, "p2q"), 0.3, 5, True, [0])
    model = load_generator(backbone(folder, "t5"), 1, device="cpu")
    steady(model.model)
    settings = RerankerSettings.model_validate({"source_length": 48, "target_length": 12} | STEPS)
    return train_reranker(model, Reading("rank", "p2q", 48), streams, settings, 0).generator.model, []


def enumerate_texts(texts: list[str]) -> list[tuple[str, str]]:
    return [(f"t{at}", text) for at, text in enumerate(texts)]


TRAININGS: dict[str, tuple[int, Callable[[Path], Learned]]] = {
    "generator that copies": (2, partial(generator, architecture="bert", copying=True)),
    "fewer rows than processes": (3, partial(generator, architecture="bart", batch_size=2)),
    "reader": (2, reader),
    "student": (2, partial(student, concatenated=False)),
    "student in one piece": (2, partial(student, concatenated=True)),
    "re-ranker": (2, reranker),
}


@pytest.mark.parametrize("name", TRAININGS)
def test_processes_together_learn_what_one_learns(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done_by(plain, monkeypatch, length_batches, reranking)
    processes, learn = TRAININGS[name]
    found = []
    for n in (1, processes):
        monkeypatch.setenv(PROCESSES, str(n))
        (tmp_path / str(n)).mkdir()
        network, seen = learn(tmp_path / str(n))
        assert not network.training
        found.append((torch.cat([one.detach().flatten() for one in network.parameters()]), seen))
    (one, alone), (together, beside) = found
    assert (together - one).abs().max() < TOLERANCE
    assert beside == pytest.approx(alone, abs=1e-3)
