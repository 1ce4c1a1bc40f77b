"""dedupe on a messy list, as its example for one file does it: its own questions, `train()`, `partition(0.5)`.

PYTHON_WITH_DEDUPE -m benchmarks.lists.peers.dedupe_list TASK
"""

import io
import random
from importlib.metadata import version
from typing import Any

import dedupe
import numpy as np
from dedupe.variables import Exact, Price, ShortString, String, Text

from benchmarks.lists.peers.prepared import prepared
from benchmarks.lists.task import ListTask, read_list_task

THRESHOLD = 0.5  # of partition, as in the example
SAMPLE = 15_000  # pairs that it samples, as in the example
SHORT = ("phone", "code", "date", "e-mail")
Rows = dict[int, dict[str, Any]]


def main() -> None:
    """Ask, train and group after each number of answers."""
    task = read_list_task()
    random.seed(task.seed)
    np.random.seed(task.seed)
    rows = read_rows(task)
    asking = new_deduper(task, rows)
    asking.prepare_training(rows, sample_size=SAMPLE)
    for labels in filter(None, task.labels):
        teach(asking, task, labels)
        deduper = trained(asking, new_deduper(task, rows), rows)
        task.keep(labels, grouped(deduper, rows), len(asking.training_pairs["match"]))
    fields = [f"{type(variable).__name__}({variable.field})" for variable in variables(task, rows)]
    task.finish({"fields": fields, "sample_size": SAMPLE, "threshold": THRESHOLD}, {"dedupe": version("dedupe")})


def read_rows(task: ListTask) -> Rows:
    """Return the prepared records by row, with their row."""
    rows: Rows = {}
    for row, record in enumerate(task.records):
        rows[row] = {"row": row, **prepared(record, task.columns)}
        for name, holds in task.columns.items():
            if holds == "price" and rows[row][name]:
                rows[row][name] = float(rows[row][name])
    return rows


def variables(task: ListTask, rows: Rows) -> list[Any]:
    """Return a variable for each column by what it holds; long text also as Text."""
    fields: list[Any] = []
    for name, holds in task.columns.items():
        if holds == "price":
            fields.append(Price(name, has_missing=True))
        elif holds in SHORT:
            fields += [ShortString(name, has_missing=True), Exact(name, has_missing=True)]
        else:
            fields.append(String(name, has_missing=True))
        if holds in ("text", "organisation"):
            corpus = [values[name] for values in rows.values() if values[name]]
            fields.append(Text(name, corpus=corpus, has_missing=True))
    return fields


def new_deduper(task: ListTask, rows: Rows) -> dedupe.Dedupe:
    """Return a deduper without labels."""
    deduper = dedupe.Dedupe(variables(task, rows), num_cores=0, in_memory=True)
    deduper.classifier.n_jobs = 1
    return deduper


def teach(asking: dedupe.Dedupe, task: ListTask, labels: int) -> None:
    """Answer dedupe's own questions up to that many answers."""
    while sum(map(len, asking.training_pairs.values())) < labels:
        answers: dict[str, list[Any]] = {"match": [], "distinct": []}
        for left, right in asking.uncertain_pairs():
            answers["match" if task.answer(left["row"], right["row"]) else "distinct"].append((left, right))
        asking.mark_pairs(answers)


def trained(asking: dedupe.Dedupe, deduper: dedupe.Dedupe, rows: Rows) -> dedupe.Dedupe:
    """Train the new deduper on the answers so far: `train()` drops the indexes that further questions need."""
    file = io.StringIO()
    asking.write_training(file)
    file.seek(0)
    deduper.prepare_training(rows, training_file=file, sample_size=SAMPLE)
    deduper.train()
    return deduper


def grouped(deduper: dedupe.Dedupe, rows: Rows) -> np.ndarray:
    """Return the group of each row, (n,) int64."""
    group = np.arange(len(rows))
    for number, (members, _) in enumerate(deduper.partition(rows, THRESHOLD)):
        group[list(members)] = len(rows) + number
    return group


if __name__ == "__main__":
    main()
