"""ConcatBERT on the labels that another row collected: trained, measured by sampling, saved like a simulation."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from allpairs.db.corpus.corpus import Corpus
from allpairs.db.progress import Progress
from allpairs.learner.experiment.spec import Concat
from allpairs.learner.files.evaluate import Method, evaluate_corpus
from allpairs.learner.files.labels import read_label_file
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.scorers.cross_encoder import save_concat, train_concat


def run_concat(
    corpus: Corpus, concat: Concat, labels: Path, folder: Path, progress: Progress, development: Corpus | None = None
) -> None:
    """Train and measure; write rounds.jsonl with one row, the whole evaluation to evaluation.json, and model/.

    labels: a file id1, id2, label of train pairs; development: the corpus with the split of a development set, which is
    measured too. Raises InputError if the labels are all of one class.
    """
    labelled = read_label_file(labels, corpus)
    scorer = train_concat(concat.backbone, dataset_of(corpus).texts, labelled, concat.settings, progress)
    counts = {"labels": len(labelled), "positives": labelled.positives}
    save_concat(scorer, folder / "model", backbone=concat.backbone, settings=concat.settings.model_dump(), **counts)
    method = Method(concat.method, concat.sample, concat.base)  # the same draws whatever the seed of the training
    evaluation = evaluate_corpus(str(folder / "model"), corpus, method, progress)
    (folder / "evaluation.json").write_text(json.dumps(evaluation), encoding="utf-8")
    row = {**_figures(evaluation), "round": 1, **counts, "trained": True, "stated": corpus.stated}
    if development is not None:
        row["development"] = _figures(evaluate_corpus(str(folder / "model"), development, method, progress))
    (folder / "rounds.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")


def _figures(evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the estimates of an evaluation, and how many pairs and positives it is of."""
    estimates = {name: value for name, value in evaluation.items() if isinstance(value, dict) and "value" in value}
    return {**estimates, "pairs": evaluation["pairs"], "evaluation_positives": evaluation["positives"]}
