"""Train a cross-encoder (ConcatBERT) on a file of labels, and measure it."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.split import read_split
from allpairs.db.errors import InputError, as_option, first_wrong
from allpairs.db.progress import Progress
from allpairs.learner.files.evaluate import Method, evaluate_corpus
from allpairs.learner.files.labels import read_labels, training_pairs
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.runtime.progress_output import print_result
from allpairs.learner.scorers.cross_encoder import ConcatSettings, save_concat, train_concat


def train_and_measure(
    backbone: str,
    corpus: Corpus,
    labels: Path,
    settings: ConcatSettings,
    out: Path,
    *,
    split: Path | None,
    how: Method | None,
    progress: Progress,
) -> dict[str, Any]:
    """Train on the file's labels into OUT/model; return counts, notes and, with a method, the estimates.

    With a split, only pairs of train items train, and evaluation items measure. Curve and histogram go to
    OUT/evaluation.json. Raises InputError if a file does not fit the corpus.
    """
    labelled = read_labels(labels, corpus)
    divided = read_split(split, corpus) if split else None
    chosen = training_pairs(labelled, corpus, divided) if divided else labelled
    _train(backbone, corpus, chosen, settings, out / "model", progress)
    return {
        "labels": len(chosen),
        "labelled_positives": chosen.positives,
        "model": str(out / "model"),
        "notes": [*(divided or corpus).notes, *_left_out(len(labelled) - len(chosen))],
        **(_evaluate(out, divided, how, progress) if divided and how else {}),
    }


def _train(
    backbone: str, corpus: Corpus, labelled: Labelled, settings: ConcatSettings, folder: Path, progress: Progress
) -> None:
    scorer = train_concat(backbone, [item.text for item in corpus.items], labelled, settings, progress)
    counts = {"labels": len(labelled), "positives": labelled.positives}
    save_concat(scorer, folder, backbone=backbone, settings=settings.model_dump(), **counts)


def _evaluate(out: Path, corpus: Corpus, how: Method, progress: Progress) -> dict[str, Any]:
    """Return the estimates; with curve and histogram they are written to evaluation.json."""
    result = evaluate_corpus(str(out / "model"), corpus, how, progress)
    print_result(result, out / "evaluation.json")
    return {name: value for name, value in result.items() if name not in ("curve", "histogram", "strata")}


def _left_out(n: int) -> list[str]:
    return [f"{n:,} labelled pairs are not of two train items, and were not used"] if n else []


def checked_settings(**values: Any) -> ConcatSettings:
    """Return the settings. Raises InputError that names the option of the command line."""
    try:
        return ConcatSettings.model_validate(values)
    except ValidationError as error:
        raise InputError(first_wrong(error, as_option)) from error
