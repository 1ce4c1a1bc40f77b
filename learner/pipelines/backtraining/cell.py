"""A variant of a seed: its iterations' folders, their number, and its best models."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from allpairs.learner.light.catalog.backtraining import SUPERVISED
from allpairs.learner.pipelines.backtraining.lists import scheme_of
from allpairs.learner.pipelines.backtraining.measure import FIGURES
from allpairs.learner.pipelines.backtraining.source import GENERATOR, MEASURED, RETRIEVER, SOURCE
from allpairs.learner.pipelines.pipeline import Run

ADAPTED = "adapted"
LISTS = "lists"
FINISHED = "done.json"
FIRST = "lists-1"


@dataclass(frozen=True)
class VariantCell:
    """A variant of a seed, its folder, and its run."""

    run: Run
    seed: int
    variant: str
    folder: Path

    @property
    def source(self) -> Path:
        return self.run.of(SOURCE) / f"seed-{self.seed}"

    def models(self, iteration: int) -> Path:
        """Return the folder with both models after this iteration; 0: the source models."""
        return self.folder / str(iteration) if iteration else self.source


def most_iterations(cell: VariantCell) -> int:
    """Return the maximum number of iterations."""
    config = cell.run.config
    filtered = scheme_of(cell.variant)[1] != "none"
    once = cell.variant == SUPERVISED or (filtered and config.iterate == "unfiltered")
    return 1 if once else int(config.iterations)


def better(cell: VariantCell, iteration: int) -> bool:
    """Return whether either model improved on the development pairs in this iteration."""
    before, after = (figures_in(cell.models(number))["dev"] for number in (iteration - 1, iteration))
    return bool(after["nll"] < before["nll"] or after["mrr"] > before["mrr"])


def best_iterations(cell: VariantCell, last: int) -> dict[str, Any]:
    """Return the iterations (0: the source) whose generator and retriever are best on the development pairs."""
    dev = [figures_in(cell.models(number))["dev"] for number in range(last + 1)]
    return {
        "iterations": last,
        GENERATOR: min(range(last + 1), key=lambda number: float(dev[number]["nll"])),
        RETRIEVER: max(range(last + 1), key=lambda number: float(dev[number]["mrr"])),
    }


def figures_in(folder: Path) -> dict[str, Any]:
    """Return the figures of the models in the folder: `dev` and `test`."""
    figures: dict[str, Any] = json.loads((folder / MEASURED / FIGURES).read_text(encoding="utf-8"))
    return figures


def keep_best(cell: VariantCell, best: dict[str, Any]) -> None:
    """Delete the variant's models except the first seed's best ones, to save disk space."""
    first = cell.seed == cell.run.config.seed
    for iteration in range(1, best["iterations"] + 1):
        for kind in (GENERATOR, RETRIEVER):
            if not (first and best[kind] == iteration):
                shutil.rmtree(cell.models(iteration) / kind / "model", ignore_errors=True)


def lists_folder(cell: VariantCell, number: int) -> Path:
    """Return the folder of this iteration's lists; the source models make the first lists for all variants."""
    return cell.folder.parent / FIRST if number == 1 else cell.models(number) / LISTS
