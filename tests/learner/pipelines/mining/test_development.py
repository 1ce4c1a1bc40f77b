"""Development pairs choose a learning rate and a step; what they measure."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import nn

from allpairs.db.progress import no_progress
from allpairs.learner.light.catalog.mining import Classifier, Crossencoder, Development
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.models.best_weights import BestWeights, Look
from allpairs.learner.models.bi_encoder_training import lesson_of, new_retriever, train_retriever
from allpairs.learner.pipelines.mining.classifier import TextClassifier
from allpairs.learner.pipelines.mining.development import (
    best_model,
    rank_measure,
    read_looks,
    retrieval_measure,
    watch_of,
    write_looks,
)
from tests.helpers.tiny import tiny_encoder

PAIRS = [(f"what is a {name}", f"the {name} lives here") for name in ("cat", "dog", "cow", "pig")]
TEXTS = [text for pair in PAIRS for text in pair]


def test_the_best_rate_is_kept_at_its_best_step(tmp_path: Path) -> None:
    values = {1e-3: [0.1, 0.7, 0.2], 1e-2: [0.3, 0.9, 0.9], 1e-1: [0.4, 0.2, 0.1]}

    def train(settings: Crossencoder, progress: Any) -> tuple[nn.Linear, BestWeights]:
        network, rate = nn.Linear(1, 1, bias=False), settings.learning_rate
        left = list(values[rate])
        best = BestWeights([network], lambda: left.pop(0), 3, rate)
        for step in range(1, 7):
            nn.init.constant_(network.weight, rate * step)
            best(step, 6)
        return network, best

    rates = Development(learning_rates=list(values))
    network, looks = best_model(Crossencoder(), rates, train, no_progress)
    assert network.weight.item() == pytest.approx(1e-2 * 4)
    assert looks == [Look(rate, 2 * at, value) for rate, some in values.items() for at, value in enumerate(some, 1)]
    write_looks(tmp_path, looks)
    assert [row["step"] for row in read_looks(tmp_path) if row["chosen"]] == [4]


def test_a_rank_counts_ties_and_divergence_against_the_truth() -> None:
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0], [np.nan, np.nan, np.nan], [0.0, 1.0, 2.0]])
    assert rank_measure(lambda: scores) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 3) / 4)


def test_a_query_and_its_other_right_texts_are_not_searched(tmp_path: Path) -> None:
    retriever = new_retriever(RetrieverSettings(backbone=str(tiny_encoder(tmp_path, TEXTS))), "cpu")
    again = (PAIRS[0][0], "it meows")
    measure = retrieval_measure(retriever, [*PAIRS, again], [text for text, _ in PAIRS])
    assert measure is not None and measure.args[2] == [text for _, text in PAIRS]  # type: ignore[attr-defined]
    assert 0 < measure() <= 1 and retrieval_measure(retriever, [], TEXTS) is None
    nn.init.constant_(next(retriever.query.model.parameters()), float("nan"))
    assert measure() == 0


def test_an_untrained_classifier_is_not_chosen(tmp_path: Path) -> None:
    settings = RetrieverSettings(backbone=str(tiny_encoder(tmp_path, TEXTS)), steps=4, batch_size=4, learning_rate=1e-3)
    retriever = new_retriever(settings, "cpu")
    beside = TextClassifier(retriever.query, [x for x, _ in PAIRS], ["buy now"], Classifier(side="x"), 4, 32)
    best = watch_of([*retriever.networks, beside.head], lambda: 1.0, Development(checks=2), 1e-3)
    train_retriever(retriever, lesson_of(PAIRS, TEXTS), settings, 0, side_task=beside, best=best)
    assert best is not None and [look.step for look in best.looks] == [2, 4]
    assert any(weight.abs().max() > 0 for weight in beside.head.parameters())
