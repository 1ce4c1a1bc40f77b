"""dedupe's own active learning between two lists, as its example for products of two shops does it.

    PYTHON_WITH_DEDUPE -m benchmarks.public.peers.dedupe_link TASK

It asks about its own uncertain pairs, learns blocking rules and a classifier by `train()`, and scores the pairs that
the rules leave. In the end the same classifiers score every pair, as if nothing were blocked, which counts as no cost.
"""

import io
import random
from collections.abc import Sequence
from importlib.metadata import version
from itertools import product
from typing import Any

import dedupe
import numpy as np
from dedupe.variables import Price, String, Text

from benchmarks.public.peers.task import Record, Task, begun

SAMPLE = 15_000  # pairs that it samples, as in the example
PART = 20_000  # pairs whose distances are computed at once
Records = dict[int, dict[str, Any]]


def main() -> None:
    """Ask, train and score at each budget."""
    task, answers = begun()
    random.seed(task.seed)
    np.random.seed(task.seed)
    left, right = (prepared(records, task.columns) for records in (task.left, task.right))
    train = {row: left[row] for row in task.train.tolist()}
    others = dict(enumerate(right))
    evaluation = {place: left[row] for place, row in enumerate(task.evaluation.tolist())}
    asking = new_linker(task, left, right)
    asking.prepare_training(train, others, sample_size=SAMPLE)
    classifiers: dict[int, Any] = {}
    for labels in task.labels:
        teach(asking, task, labels)
        with answers.alone():  # who has these labels trains once
            linker = trained(asking, new_linker(task, left, right), train, others)
            scored = linker.score(linker.pairs(evaluation, others))
            places = scored["pairs"].astype(np.int64)
            matches = len(linker.training_pairs["match"])
            answers.sparse(labels, matches, places[:, 0], places[:, 1], scored["score"])
        classifiers[labels] = linker.classifier
    fields = [f"{type(one).__name__.removesuffix('Type')}({one.field})" for one in variables(task, left)]
    settings = {"class": "RecordLink", "fields": fields, "sample_size": SAMPLE, "train": "recall 1.0, index predicates"}
    answers.finish(settings, {"dedupe": version("dedupe"), "scikit-learn": version("scikit-learn")})
    far = distances(asking, list(evaluation.values()), right)
    for labels, classifier in classifiers.items():
        answers.every(labels, classifier.decision_function(far).reshape(len(evaluation), len(right)))


def new_linker(task: Task, left: list[Any], right: list[Any]) -> dedupe.RecordLink:
    """Return a linker without labels, whose word weights come from all records."""
    linker = dedupe.RecordLink(variables(task, [*left, *right]), num_cores=0, in_memory=True)
    linker.classifier.n_jobs = 1
    return linker


def trained(asking: dedupe.RecordLink, linker: dedupe.RecordLink, train: Records, others: Records) -> dedupe.RecordLink:
    """Train the new linker on the answers so far: `train()` drops the indexes that further questions need."""
    file = io.StringIO()
    asking.write_training(file)
    file.seek(0)
    linker.prepare_training(train, others, training_file=file, sample_size=SAMPLE)
    linker.train()
    return linker


def prepared(records: Sequence[Record], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Return the records as dedupe wants them: None where a value is missing, prices as numbers, and their row."""
    return [{"row": row, **fields(record, columns or ("text",))} for row, record in enumerate(records)]


def fields(record: Record, columns: Sequence[str]) -> dict[str, Any]:
    """Return the record's values."""
    values: dict[str, Any] = {name: " ".join(record[name].lower().split()) or None for name in columns}
    if values.get("price"):
        price = float(values["price"].split()[0])
        values["price"] = price if price > 0 else None
    return values


def variables(task: Task, known: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the first column as String and as Text, a price as Price, any other as String."""
    first, *others = task.columns or ("text",)
    texts = [record[first] or "" for record in known]
    of = {"price": Price}
    return [
        String(first),
        Text(first, corpus=texts),
        *(of.get(name, String)(name, has_missing=True) for name in others),
    ]


def teach(linker: dedupe.RecordLink, task: Task, labels: int) -> None:
    """Answer dedupe's own questions up to that many answers."""
    while sum(map(len, linker.training_pairs.values())) < labels:
        told: dict[str, list[Any]] = {"match": [], "distinct": []}
        for one, other in linker.uncertain_pairs():
            told["match" if task.answer(one["row"], other["row"]) else "distinct"].append((one, other))
        linker.mark_pairs(told)


def distances(linker: dedupe.RecordLink, left: Sequence[Any], right: Sequence[Any]) -> np.ndarray:
    """Return dedupe's distances of every pair, (pairs, fields); labels do not change them."""
    pairs = list(product(left, right))
    return np.concatenate([linker.data_model.distances(pairs[at : at + PART]) for at in range(0, len(pairs), PART)])


if __name__ == "__main__":
    main()
