"""Train a cross-encoder (ConcatBERT) on a file of labels, and measure it."""

from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.errors import InputError, as_option, first_wrong
from allpairs.db.progress import Progress
from allpairs.learner.evaluation.given_pairs import pair_f1
from allpairs.learner.files.evaluate import Method, evaluate_corpus
from allpairs.learner.files.labels import read_label_file, training_pairs
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.runtime.progress_output import print_result
from allpairs.learner.scorers.cross_encoder import ConcatSettings, save_concat, train_concat
from allpairs.learner.scorers.scorer import TextScorer


def train_and_measure(
    backbone: str,
    corpus: Corpus,
    labels: Path,
    settings: ConcatSettings,
    out: Path,
    *,
    split: Path | None,
    method: Method | None,
    held_out: Path | None,
    progress: Progress,
) -> dict[str, Any]:
    """Train on the file's labels into OUT/model; return counts, notes and, with a method, the estimates.

    With a split, only pairs of train items train, and evaluation items measure. held_out: labelled pairs that measure
    accuracy and F1 and never train, where the split is one of pairs. Curve and histogram go to
    OUT/evaluation.json. Raises InputError if a file does not fit the corpus.
    """
    labelled = read_label_file(labels, corpus)
    held_out_pairs = read_label_file(held_out, corpus) if held_out else None
    labelled = labelled.take(~_among(labelled, held_out_pairs, corpus)) if held_out_pairs else labelled
    divided = read_split(split, corpus) if split else None
    chosen = training_pairs(labelled, corpus, divided) if divided else labelled
    scorer = _train(backbone, corpus, chosen, settings, out / "model", progress)
    return {
        "labels": len(chosen),
        "labelled_positives": chosen.positives,
        "model": str(out / "model"),
        "notes": [*(divided or corpus).notes, *_left_out(len(labelled) - len(chosen))],
        **(_evaluate(out, divided, method, progress) if divided and method else {}),
        **({"held_out": _of_held_out(scorer, held_out_pairs, progress)} if held_out_pairs else {}),
    }


def _train(
    backbone: str, corpus: Corpus, labelled: Labelled, settings: ConcatSettings, folder: Path, progress: Progress
) -> TextScorer:
    scorer = train_concat(backbone, [item.text for item in corpus.items], labelled, settings, progress)
    counts = {"labels": len(labelled), "positives": labelled.positives}
    save_concat(scorer, folder, backbone=backbone, settings=settings.model_dump(), **counts)
    return scorer


def _among(labelled: Labelled, held_out: Labelled, corpus: Corpus) -> np.ndarray:
    """Return which of the labelled pairs are held out, (n,) bool."""
    keys, out = (pairs.left * len(corpus.items) + pairs.right for pairs in (labelled, held_out))
    return np.isin(keys, out)


def _of_held_out(scorer: TextScorer, held_out: Labelled, progress: Progress) -> dict[str, float]:
    """Return accuracy and F1 at p = 1/2 on the pairs, their number, and the share of matches among them."""
    predicted = scorer.score(held_out.left, held_out.right, progress) >= 0
    f1 = pair_f1(predicted, held_out.label == 1) if held_out.positives else 0.0
    right = float((predicted == (held_out.label == 1)).mean())
    return {"accuracy": right, "f1": f1, "pairs": len(held_out), "positive": held_out.positives / len(held_out)}


def _evaluate(out: Path, corpus: Corpus, method: Method, progress: Progress) -> dict[str, Any]:
    """Return the estimates; with curve and histogram they are written to evaluation.json."""
    result = evaluate_corpus(str(out / "model"), corpus, method, progress)
    print_result(result, out / "evaluation.json")
    return {name: value for name, value in result.items() if name not in ("curve", "histogram", "strata")}


def _left_out(n: int) -> list[str]:
    return [f"{n:,} labelled pairs are not of two train items, and were not used"] if n else []


def checked_concat_settings(**values: Any) -> ConcatSettings:
    """Return the settings. Raises InputError that names the option of the command line."""
    try:
        return ConcatSettings.model_validate(values)
    except ValidationError as error:
        raise InputError(first_wrong(error, as_option)) from error
