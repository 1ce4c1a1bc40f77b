"""Development pairs choose a model: its learning rate, and the number of steps.

Source: Joshi et al. (2022), section 5.2, where accuracy on the development set chooses. The mean reciprocal rank, used
here, also tells the second place from the last.
"""

import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from torch import nn

from allpairs.db.identity import identity
from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.backbones import GeneratorSettings, ReaderSettings
from allpairs.learner.light.catalog.mining import Crossencoder, Development
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.metrics.retrieval import mean_reciprocal_rank
from allpairs.learner.models.best_weights import BestWeights, Look
from allpairs.learner.models.bi_encoder_training import Retriever
from allpairs.learner.search.gold_ranks import ranks_of_gold

FILE = "development.json"  # in a stage's folder: every measurement
Settings = TypeVar("Settings", RetrieverSettings, Crossencoder, ReaderSettings, GeneratorSettings)
Model = TypeVar("Model")
# Trains a model with these settings, and with the watch that measures it, if there is one.
Train = Callable[[Settings, Progress], tuple[Model, BestWeights | None]]


def best_model(
    settings: Settings, config: Development, train: Train[Settings, Model], progress: Progress
) -> tuple[Model, list[Look]]:
    """Return the model of the learning rate that measures best, at its best step, and every measurement.

    Without rates to try, the settings' own is the only one; without measurements, the last step counts.
    """
    rates = config.learning_rates or [settings.learning_rate]
    chosen: tuple[Model, float] | None = None
    looks: list[Look] = []
    for number, rate in enumerate(rates):
        part = part_of(progress, number / len(rates), (number + 1) / len(rates))
        model, best = train(settings.model_copy(update={"learning_rate": rate}), part)
        value = 0.0
        if best is not None and best.best is not None:
            looks = looks + best.looks
            value = best.best.value
        if chosen is None or value > chosen[1]:
            chosen = model, value
    assert chosen is not None
    return chosen[0], looks


def watch_of(
    networks: Sequence[nn.Module], measure: Callable[[], float] | None, config: Development, rate: float
) -> BestWeights | None:
    """Return what measures and keeps the networks in their training, if they can be measured."""
    return None if measure is None else BestWeights(networks, measure, config.checks, rate)


def write_looks(folder: Path, looks: Sequence[Look]) -> None:
    """Write the measurements to the folder, if there are any, and which of them was chosen: the first of the best."""
    if looks:
        best = max(looks, key=lambda look: look.value)
        rows = [look._asdict() | {"chosen": look is best} for look in looks]
        (folder / FILE).write_text(json.dumps(rows, indent=1), encoding="utf-8")


def read_looks(folder: Path) -> list[dict[str, Any]]:
    """Return what `write_looks` wrote to the folder; empty if there was nothing to write."""
    path = folder / FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def retrieval_measure(
    retriever: Retriever, pairs: Sequence[tuple[str, str]], random_texts: Sequence[str]
) -> Callable[[], float] | None:
    """Return what measures a retriever: the mean reciprocal rank of each pair's second text among all and the others.

    None without pairs. Of several pairs with one first text the first counts; no first text is among the others.
    """
    if not pairs:
        return None
    right: dict[str, tuple[str, str]] = {}
    for x, y in pairs:
        right.setdefault(identity(x), (x, y))
    rows = {identity(y): y for _, y in right.values()}
    for text in random_texts:
        if identity(text) not in right:
            rows.setdefault(identity(text), text)
    position = {key: row for row, key in enumerate(rows)}
    gold = np.array([position[identity(y)] for _, y in right.values()], dtype=np.int64)
    return partial(_mrr, retriever, [x for x, _ in right.values()], list(rows.values()), gold)


def _mrr(retriever: Retriever, queries: Sequence[str], passages: Sequence[str], gold: np.ndarray) -> float:
    query_vectors = retriever.query.encode(queries)
    passage_vectors = retriever.passage.encode(passages)
    if not (np.isfinite(query_vectors).all() and np.isfinite(passage_vectors).all()):
        return 0.0  # the training has diverged
    return float(mean_reciprocal_rank(ranks_of_gold(query_vectors, passage_vectors, gold)))


def rank_measure(scores: Callable[[], np.ndarray]) -> float:
    """Return the mean reciprocal rank of the first column among the columns (n, k); ties and NaN count against it."""
    values = scores()
    return float(np.mean(1.0 / (1 + (~(values[:, 1:] < values[:, :1])).sum(axis=1))))
