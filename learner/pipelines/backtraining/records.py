"""The figures of the finished stages, gathered for tables and plots."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.learner.pipelines.backtraining.best import SOURCE_ONLY
from allpairs.learner.pipelines.backtraining.cell import ADAPTED, FINISHED, VariantCell, figures_in, lists_folder
from allpairs.learner.pipelines.backtraining.making import seconds_of
from allpairs.learner.pipelines.backtraining.measure import WRITTEN
from allpairs.learner.pipelines.backtraining.source import GENERATOR, MEASURED, RETRIEVER, seeds_of
from allpairs.learner.pipelines.backtraining.training import training_log
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.reports.means import Mean, mean_of


@dataclass(frozen=True)
class IterationRecord:
    """Both models after an iteration of a variant (0: the source models), for one seed."""

    variant: str
    iteration: int
    seed: int
    folder: Path
    lists: Path | None

    @property
    def test(self) -> dict[str, float]:
        """Figures of the test pairs, 0 to 1, by name."""
        figures: dict[str, float] = figures_in(self.folder)["test"]
        return figures

    @property
    def written(self) -> list[str]:
        """The questions generated for the test pairs."""
        questions: list[str] = json.loads((self.folder / MEASURED / WRITTEN).read_text(encoding="utf-8"))
        return questions

    def log(self, kind: str) -> dict[str, Any]:
        """Return the training log of the generator or the retriever."""
        return training_log(self.folder / kind)

    @property
    def seconds(self) -> float:
        """The time for making pairs, training and measuring."""
        trained = sum(float(self.log(kind)["seconds"]) for kind in (GENERATOR, RETRIEVER))
        making = seconds_of(self.lists) if self.lists and self.lists.is_dir() else 0.0
        return trained + making + float(figures_in(self.folder)["seconds"])


def records_of(run: Run) -> list[IterationRecord]:
    """Return all records, by seed, the source first."""
    records = []
    for seed in seeds_of(run):
        for place, variant in enumerate(dict.fromkeys(run.config.variants)):
            cell = VariantCell(run, seed, variant, run.of(ADAPTED) / f"seed-{seed}" / variant)
            if place == 0:
                records.append(IterationRecord(SOURCE_ONLY, 0, seed, cell.models(0), None))
            last = json.loads((cell.folder / FINISHED).read_text(encoding="utf-8"))["iterations"]
            records += [
                IterationRecord(variant, number, seed, cell.models(number), lists_folder(cell, number))
                for number in range(1, last + 1)
            ]
    return records


def records_at(records: Sequence[IterationRecord], variant: str, iteration: int) -> list[IterationRecord]:
    """Return the records of a variant's iteration, one for each seed that has it."""
    return [record for record in records if (record.variant, record.iteration) == (variant, iteration)]


def mean_over_seeds(records: Sequence[IterationRecord], figure: Callable[[IterationRecord], float]) -> Mean | None:
    """Return the mean of a figure with its interval, or None without records."""
    return mean_of([figure(record) for record in records]) if records else None
