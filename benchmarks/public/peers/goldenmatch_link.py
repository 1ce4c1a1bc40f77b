"""GoldenMatch between two lists: what it configures by itself, then its active learning.

    PYTHON_WITH_GOLDENMATCH -m benchmarks.public.peers.goldenmatch_link TASK

Without labels its automatic configuration scores the pairs that its blocking leaves, all matches of a record wanted and
not the best alone; its threshold is lowered so that every pair is ranked. With labels its boost, which samples what to
ask a language model and fits a classifier, gets our answers in the model's place. The tab of its terminal interface for
a person's labels cannot be started in 3.22.0: its methods have slipped into a function beside them.
"""

import csv
import os
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

import goldenmatch as gm
import numpy as np
import polars as pl
from goldenmatch.core.boost import boost_accuracy
from goldenmatch.core.pipeline import run_match

from benchmarks.public.peers.task import Record, Task, begun

REPEATABLE = {"GOLDENMATCH_AUTOCONFIG_DETERMINISTIC": "1", "GOLDENMATCH_AUTOCONFIG_MEMORY": "0"}
LOW = 0.01  # below every score that says anything: its own threshold would leave most pairs without one
Pair = tuple[int, int, float]


def main() -> None:
    """Score at each budget."""
    os.environ.update(REPEATABLE)
    task, answers = begun()
    settings = configured(task)
    pairs = matched(task, answers.folder, settings)
    place = {row: at for at, row in enumerate(task.evaluation.tolist())}
    measured = [pair for pair in pairs if pair[0] in place]
    os.chdir(answers.folder)  # where its classifier is kept
    boost = Boost(task, pairs)
    asked = list[int]()
    for labels in task.labels:
        with answers.alone():  # it begins anew at each
            scored = boost.scored(labels, measured) if labels else measured
            asked.append(len(boost.given))
            left, right, score = (np.array(values) for values in zip(*scored, strict=True))
            answers.sparse(labels, sum(boost.given), np.array([place[row] for row in left.tolist()]), right, score)
    answers.finish(
        shown(settings) | {"asked": asked}, {name: version(name) for name in ("goldenmatch", "polars", "scikit-learn")}
    )


def names(task: Task) -> list[str]:
    """Return the columns to compare."""
    return list(task.columns or ("text",))


def frame(records: Sequence[Record], task: Task) -> pl.DataFrame:
    """Return the records as a table, in which empty values are null."""
    return pl.DataFrame({name: [record[name] or None for record in records] for name in names(task)})


def configured(task: Task) -> gm.GoldenMatchConfig:
    """Return what GoldenMatch configures for the two lists, without its calls of a language model."""
    found = gm.auto_configure_df(frame(task.left, task), reference=frame(task.right, task), confidence_required=False)
    if found.domain:
        found.domain.llm_validation = False
    return found


def matched(task: Task, folder: Path, settings: gm.GoldenMatchConfig) -> list[Pair]:
    """Return left row, right row and score of every pair that the blocking leaves, each once."""
    paths = [folder / f"{side}-goldenmatch.csv" for side in ("left", "right")]
    for path, records in zip(paths, (task.left, task.right), strict=True):
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names(task), extrasaction="ignore")
            writer.writeheader()
            writer.writerows(records)
    ranking = settings.model_copy(deep=True)
    for key in ranking.get_matchkeys():
        key.threshold = None if key.type == "exact" else LOW
    found = run_match((str(paths[0]), "left"), [(str(paths[1]), "right")], ranking, match_mode="all")["matched"]
    columns = (found[f"__{name}__"].to_pylist() for name in ("target_row_id", "ref_row_id", "match_score"))
    best: dict[tuple[int, int], float] = {}
    for left, right, score in zip(*columns, strict=True):
        pair = (left, right - len(task.left))
        best[pair] = max(score, best.get(pair, score))
    return [(left, right, score) for (left, right), score in sorted(best.items())]


class Boost:
    """GoldenMatch's boost, with answers in the place of its language model's."""

    def __init__(self, task: Task, pairs: Sequence[Pair]) -> None:
        self._task = task
        self._offset = len(task.left)
        self._left = 0
        self._rows = frame([*task.left, *task.right], task).with_row_index("__row_id__")
        self._training = [pair for pair in pairs if task.left[pair[0]]["part"] == "train"]
        self.given: list[bool] = []

    def scored(self, labels: int, measured: Sequence[Pair]) -> list[Pair]:
        """Let it ask about training pairs up to that many labels, and return the measured ones with its scores."""
        self.given = []
        self._left = labels
        with patch("goldenmatch.core.boost.label_pairs", self._answers):
            self._boosted(self._training, max_labels=labels, retrain=True)
        return self._boosted(measured)  # by the model that it keeps in the working folder

    def _boosted(self, pairs: Sequence[Pair], **more: Any) -> list[Pair]:
        """Call it; its right rows are numbered after the left ones."""
        moved = [(left, right + self._offset, score) for left, right, score in pairs]
        found = boost_accuracy(moved, self._rows, names(self._task), "answers", "none", "none", **more)
        return [(left, right - self._offset, score) for left, right, score in found]

    def _answers(self, pairs: Sequence[tuple[Any, Any]], *_: Any) -> list[bool]:
        """Answer about the first pairs, as many as are left of the budget."""
        rows = [(left["__row_id__"], right["__row_id__"] - self._offset) for left, right in pairs[: self._left]]
        self._left -= len(rows)
        self.given += (told := [self._task.answer(left, right) for left, right in rows])
        return told


def shown(settings: gm.GoldenMatchConfig) -> dict[str, Any]:
    """Return what was set."""
    blocking = settings.blocking
    keys = settings.get_matchkeys()
    fields = [f"{field.field}: {field.scorer}, weight {field.weight:g}" for key in keys for field in key.fields]
    return {
        "configuration": "its own (auto_configure_df)",
        "fields": fields,
        "blocking": blocking.strategy if blocking else "none",
        "domain": settings.domain.mode if settings.domain else "none",
        "match_mode": "all",
        "threshold": f"{LOW}, of itself {' and '.join(f'{key.threshold:.2f}' for key in keys if key.threshold)}",
        "labels": "boost_accuracy: its own questions and its logistic regression; it may stop before the budget",
    }


if __name__ == "__main__":
    main()
