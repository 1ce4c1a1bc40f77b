"""Paraphrases, ranked without labels and classified from few.

Source: Jia, Lewis and Zettlemoyer (2022), sections 4.4 and 4.5, Tables 2 and 3.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.token_encoder import TokenEncoder, load_token_encoder
from allpairs.learner.light.catalog.quip import Paraphrases
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.paraphrases import (
    ParaphrasePairs,
    auroc,
    best_layer,
    few_of_each,
    frozen_f1,
    layer_scores,
    tuned_f1,
)
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.uses.rows import Rows, by_dataset, sample_rows

DRAWS = 500
TAILS = (0.025, 0.975)
FROZEN = "frozen"
TUNED = "fine-tuned"


def measure_paraphrases(run: Run, model: Model, rows: Rows, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield a row for each data set's ranking, and one for each way to classify and split."""
    settings = run.config.paraphrases
    encoder = load_token_encoder(model.source)
    split = pairs_of(rows, settings, run.config.seed)
    layer = settings.layer or _layer(encoder, split, settings, run.config.seed)
    for place, (name, (train, test)) in enumerate(split.items()):
        part = part_of(progress, place / len(split), (place + 1) / len(split), f"{name}, ")
        scores, pooled = layer_scores(encoder, test, part_of(part, 0.0, 0.3))
        yield {"dataset": name, "use": "ranking", "layer": layer, **_ranking(scores, pooled, test.labels, layer)}
        yield from _classified(model, encoder, settings, name, train, test, scores, part)


def pairs_of(rows: Rows, settings: Paraphrases, seed: int) -> dict[str, tuple[ParaphrasePairs, ParaphrasePairs]]:
    """Return each data set's training and test pairs. Raises InputError if a split lacks a label."""
    return {name: _split(name, dataset_rows, settings, seed) for name, dataset_rows in by_dataset(rows).items()}


def _split(name: str, rows: Rows, settings: Paraphrases, seed: int) -> tuple[ParaphrasePairs, ParaphrasePairs]:
    train = [row for row in rows if row["split"] == "train"]
    test = sample_rows([row for row in rows if row["split"] == "test"], settings.most, seed)
    for part, part_rows in (("train", train), ("test", test)):
        if {row["label"] for row in part_rows} != {0, 1}:
            raise InputError(f"inputs.paraphrases: {name} needs pairs of both labels in its split {part}: add some")
    return _pairs(train), _pairs(test)


def _pairs(rows: Rows) -> ParaphrasePairs:
    labels = np.array([row["label"] for row in rows], dtype=np.int64)
    return ParaphrasePairs([row["x"] for row in rows], [row["y"] for row in rows], labels)


def _layer(
    encoder: TokenEncoder, split: dict[str, tuple[ParaphrasePairs, ParaphrasePairs]], settings: Paraphrases, seed: int
) -> int:
    """Return the layer that agrees best with the labels of training pairs, all data sets weighing the same."""
    shots = max(1, settings.judged // (2 * len(split)))
    judged = [train.take(few_of_each(train.labels, shots, seed)) for train, _ in split.values()]
    scores = np.concatenate([layer_scores(encoder, pairs)[0] for pairs in judged])
    return best_layer(scores, np.concatenate([pairs.labels for pairs in judged]))


def _ranking(scores: np.ndarray, pooled: np.ndarray, labels: np.ndarray, layer: int) -> dict[str, Any]:
    """Return the AUROC of the chosen layer with its bootstrap interval, of every layer, and of the mean vectors."""
    chosen = scores[:, layer - 1]
    rng = np.random.default_rng(0)
    drawn = [rng.integers(len(labels), size=len(labels)) for _ in range(DRAWS)]
    resampled = [auroc(labels[rows], chosen[rows]) for rows in drawn if len(np.unique(labels[rows])) == 2]
    low, high = np.quantile(resampled, TAILS) if resampled else (None, None)
    return {
        "pairs": len(labels),
        "auroc": auroc(labels, chosen),
        "low": low,
        "high": high,
        "by_layer": [auroc(labels, column) for column in scores.T],
        "pooled": auroc(labels, pooled),
    }


def _classified(
    model: Model,
    encoder: TokenEncoder,
    settings: Paraphrases,
    name: str,
    train: ParaphrasePairs,
    test: ParaphrasePairs,
    scores: np.ndarray,
    progress: Progress,
) -> Iterator[dict[str, Any]]:
    """Yield the F1 of every split: of fixed scores, and of an encoder fine-tuned from the start each time."""
    rest = part_of(progress, 0.3, 1.0)
    for place, seed in enumerate(settings.seeds):
        few = train.take(few_of_each(train.labels, settings.shots, seed))
        few_scores, _ = layer_scores(encoder, few)
        last = slice(-settings.layers, None)
        f1 = frozen_f1(few_scores[:, last], np.arange(len(few)), few.labels, scores[:, last], test.labels)
        yield {"dataset": name, "use": FROZEN, "seed": seed, "f1": f1}
        if settings.fine_tune:
            part = part_of(rest, place / len(settings.seeds), (place + 1) / len(settings.seeds), f"split {place + 1}, ")
            f1 = tuned_f1(model.source, few, test, settings, seed, part)
            yield {"dataset": name, "use": TUNED, "seed": seed, "f1": f1}
