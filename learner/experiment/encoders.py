"""Encoders compared on labels: cross-validated average precision, speed and memory of each."""

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import evaluate_dataset
from allpairs.learner.metrics.average_precision import average_precision, curve_from_scores
from allpairs.learner.models.cosine_bert import Labelled, cosines, train
from allpairs.learner.models.encoder import Encoder, load_encoder

# labels of each class
FOLDS = 5
LEAST = 10
NEAR = 10  # texts
QUERIES = 256  # texts compared with all others at once
TIE = 1e-6  # rounding of equal scores
HELD_OUT = "held_out.json"
LINE = "rounds.jsonl"


def run_encoder(corpus: Corpus, settings: Settings, labels: Path, folder: Path, progress: Progress) -> None:
    """Measure the encoder of the settings; write rounds.jsonl with one row, and the scores of labels held out.

    labels: a file id1, id2, label. Raises InputError if training pairs have fewer than ten labels of a class.
    """
    dataset = dataset_of(corpus)
    labelled = training_labels(dataset, read_label_file(labels, corpus))
    encoder = load_encoder(settings.encoder).variant(settings.pooling, settings.distance)
    started = time.monotonic()
    vectors = encoder.encode(dataset.texts, part_of(progress, 0.0, 0.2))
    seconds = time.monotonic() - started
    memory = _peak()
    before = cosines(encoder, dataset.texts, labelled)
    near = share_near(dataset, vectors, labelled)
    after = held_out_scores(encoder, dataset, labelled, settings, part_of(progress, 0.2, 0.7))
    figures: dict[str, float] = {
        "labels_ap": ap_of(after, labelled.label),
        "untrained_labels_ap": ap_of(before, labelled.label),
        "near": near,
        "texts_per_second": len(dataset.texts) / max(seconds, 1e-3),
        "memory": memory,
        "dimension": encoder.dimension,
    }
    if len(dataset.evaluation_positives):
        figures["all_pairs_ap"] = _over_all_pairs(encoder, dataset, labelled, settings, part_of(progress, 0.7, 1.0))
    counts = {"round": 1, "labels": len(labelled), "positives": labelled.positives, "trained": True}
    row = counts | {name: {"value": value} for name, value in figures.items()}
    (folder / LINE).write_text(json.dumps(row) + "\n", encoding="utf-8")
    scored = {"score": after.tolist(), "label": labelled.label.tolist()}
    (folder / HELD_OUT).write_text(json.dumps(scored), encoding="utf-8")


def training_labels(dataset: Dataset, labelled: Labelled) -> Labelled:
    """Return the labels of training pairs. Raises InputError if they have fewer than ten of a class."""
    in_training = np.isin(labelled.left, dataset.train_left) & np.isin(labelled.right, dataset.train_right)
    training = labelled.take(in_training)
    negatives = len(training) - training.positives
    if min(training.positives, negatives) < LEAST:
        counts = f"{training.positives} positive and {negatives} negative labels of training pairs"
        raise InputError(f"{counts} are too few to compare encoders: label until there are {LEAST} of each")
    return training


def share_near(dataset: Dataset, vectors: np.ndarray, labelled: Labelled) -> float:
    """Return the share of positive labels whose right text is among the ten nearest of the left one, by the cosine."""
    positive = np.flatnonzero(labelled.label == 1)
    left = labelled.left[positive]
    right = labelled.right[positive]
    right_vectors = vectors[dataset.right]
    better = np.empty(len(positive), dtype=np.int64)
    for start in range(0, len(positive), QUERIES):
        chunk = slice(start, start + QUERIES)
        cosine = np.einsum("nd,nd->n", vectors[left[chunk]], vectors[right[chunk]])
        better[chunk] = (vectors[left[chunk]] @ right_vectors.T >= cosine[:, None] - TIE).sum(1)
    # a tie counts, and so does the text itself; in one list a text is itself the nearest
    return float((better - 1 - int(dataset.symmetric) < NEAR).mean())


def _over_all_pairs(
    encoder: Encoder, dataset: Dataset, labelled: Labelled, settings: Settings, progress: Progress
) -> float:
    """Train the encoder on all labels; return its average precision over all evaluation pairs, by the cosine."""
    train(encoder, dataset.texts, labelled, settings, part_of(progress, 0.0, 0.5))
    measured = evaluate_dataset(dataset, encoder.encode(dataset.texts, part_of(progress, 0.5, 1.0)), seed=settings.seed)
    assert measured is not None  # there is a positive
    return float(measured.estimates["average_precision"].value or 0.0)


def held_out_scores(
    encoder: Encoder, dataset: Dataset, labelled: Labelled, settings: Settings, progress: Progress
) -> np.ndarray:
    """Return the logit of each label by an encoder trained without it and others of its left text, (n,)."""
    start = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    logits = np.empty(len(labelled))
    for fold, (rest, held_out) in enumerate(_folds(labelled, settings.seed)):
        encoder.model.load_state_dict(start)
        part = part_of(progress, fold / FOLDS, (fold + 1) / FOLDS)
        layer = train(encoder, dataset.texts, labelled.take(rest), settings, part)
        logits[held_out] = layer.logit(cosines(encoder, dataset.texts, labelled.take(held_out)))
    encoder.model.load_state_dict(start)
    return logits


def _folds(labelled: Labelled, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return five pairs of positions, to train on and held out, each left text in one fold, where that is possible."""
    label = labelled.label
    groups = labelled.left
    if len(np.unique(groups)) >= FOLDS:
        grouped = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=seed)
        folds = list(grouped.split(label, label, groups))
        if all(0 < label[rest].sum() < len(rest) for rest, _ in folds):
            return folds
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(label, label))


def ap_of(score: np.ndarray, label: np.ndarray) -> float:
    """Return the average precision of scores (n,) of labels (n,)."""
    return float(average_precision(curve_from_scores(score, label)))


def _peak() -> float:
    """Return the most memory that this process has used, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
