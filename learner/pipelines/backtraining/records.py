"""The figures of the finished stages, gathered for tables and plots."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.learner.pipelines.backtraining.best import SOURCE_ONLY
from allpairs.learner.pipelines.backtraining.cell import ADAPTED, DONE, Cell, figures_in, lists_of
from allpairs.learner.pipelines.backtraining.making import seconds_of
from allpairs.learner.pipelines.backtraining.measure import WRITTEN
from allpairs.learner.pipelines.backtraining.source import GENERATOR, MEASURED, RETRIEVER, seeds_of
from allpairs.learner.pipelines.backtraining.training import log_in
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.reports.means import Mean, mean_of


@dataclass(frozen=True)
class Record:
    """Both models after an iteration of a variant (0: the source models), for one seed."""

    variant: str
    iteration: int
    seed: int
    folder: Path
    lists: Path | None

    @property
    def test(self) -> dict[str, float]:
        """Figures of the test pairs, 0 to 1, by name."""
        found: dict[str, float] = figures_in(self.folder)["test"]
        return found

    @property
    def written(self) -> list[str]:
        """The questions generated for the test pairs."""
        found: list[str] = json.loads((self.folder / MEASURED / WRITTEN).read_text(encoding="utf-8"))
        return found

    def log(self, kind: str) -> dict[str, Any]:
        """Return the training log of the generator or the retriever."""
        return log_in(self.folder / kind)

    @property
    def seconds(self) -> float:
        """The time for making pairs, training and measuring."""
        trained = sum(float(self.log(kind)["seconds"]) for kind in (GENERATOR, RETRIEVER))
        made = seconds_of(self.lists) if self.lists and self.lists.is_dir() else 0.0
        return trained + made + float(figures_in(self.folder)["seconds"])


def records_of(run: Run) -> list[Record]:
    """Return all records, by seed, the source first."""
    found = []
    for seed in seeds_of(run):
        for at, variant in enumerate(dict.fromkeys(run.config.variants)):
            cell = Cell(run, seed, variant, run.of(ADAPTED) / f"seed-{seed}" / variant)
            if at == 0:
                found.append(Record(SOURCE_ONLY, 0, seed, cell.models(0), None))
            last = json.loads((cell.folder / DONE).read_text(encoding="utf-8"))["iterations"]
            found += [
                Record(variant, number, seed, cell.models(number), lists_of(cell, number))
                for number in range(1, last + 1)
            ]
    return found


def of(records: Sequence[Record], variant: str, iteration: int) -> list[Record]:
    """Return the records of a variant's iteration, one for each seed that has it."""
    return [one for one in records if (one.variant, one.iteration) == (variant, iteration)]


def mean_over_seeds(records: Sequence[Record], figure: Callable[[Record], float]) -> Mean | None:
    """Return the mean of a figure with its interval, or None without records."""
    return mean_of([figure(one) for one in records]) if records else None
