"""The measurements of finished cells: one record for each round, and means over seeds."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from allpairs.db.domain import Stated
from allpairs.learner.experiment.cell import BASE, ROUNDS, is_done
from allpairs.learner.experiment.paper import NEAR
from allpairs.learner.experiment.spec import Experiment, GridRow, cells_of
from allpairs.learner.reports.means import Mean, mean_of

EXACT = "exact"
DEVELOPMENT = "development_"  # before a figure's name: of the development set


@dataclass(frozen=True)
class Record:
    """One round of one cell: the labels spent, the positives among them, and every figure by name.

    stated: which known pairs accuracy and F1 are measured on. pairs, known: evaluation pairs
    and positives among them. method: how average precision was measured. sampled: the intervals of figures that come
    from a sample, as (low, high).
    """

    dataset: str
    row: str
    seed: int
    round: int
    labels: int
    figures: dict[str, float]
    stated: str = Stated.AS_LISTED
    pairs: int = 0
    known: int = 0
    method: str = EXACT
    sampled: Mapping[str, tuple[float, float]] = field(default_factory=dict)


class Results:
    """The records of an experiment's finished cells; near: near negatives by data set and part, where known."""

    def __init__(
        self, experiment: Experiment, records: Sequence[Record], near: Mapping[tuple[str, str], int] | None = None
    ) -> None:
        self.experiment = experiment
        self.records = records
        self.near = near or {}

    @property
    def datasets(self) -> list[str]:
        """The data sets with results, in the experiment's order."""
        measured = {record.dataset for record in self.records}
        return [name for name in self.experiment.datasets if name in measured]

    def rows(self, dataset: str) -> list[GridRow]:
        """Return the rows with results on a data set, in the experiment's order."""
        measured = {record.row for record in self.records if record.dataset == dataset}
        return [row for row in self.experiment.rows if row.name in measured]

    def row_of(self, dataset: str, condition: Callable[[GridRow], bool]) -> GridRow | None:
        """Return the first of these rows that is wanted, or None."""
        return next(filter(condition, self.rows(dataset)), None)

    def rounds(self, dataset: str, row: str) -> list[list[Record]]:
        """Return the rounds of a row in order, each with the records of all seeds."""
        row_records = [record for record in self.records if (record.dataset, record.row) == (dataset, row)]
        numbers = sorted({record.round for record in row_records})
        return [[record for record in row_records if record.round == number] for number in numbers]

    def last(self, dataset: str, row: str) -> list[Record]:
        """Return the last round of a row: the records of all seeds."""
        return self.rounds(dataset, row)[-1]


def means_of(records: Iterable[Record]) -> dict[str, Mean]:
    """Return the mean of every figure that all of these records have."""
    seeds = list(records)
    common = [name for name in seeds[0].figures if all(name in record.figures for record in seeds)]
    return {name: mean_of([record.figures[name] for record in seeds]) for name in common}


def read_cell_results(experiment: Experiment, out: Path) -> Results:
    """Read the results of the finished cells."""
    records = []
    near = dict[tuple[str, str], int]()
    for cell in cells_of(experiment):
        if is_done(cell, out):
            near |= near_of(out / cell.folder / BASE, cell.dataset, experiment.datasets[cell.dataset].part)
            lines = (out / cell.folder / ROUNDS).read_text(encoding="utf-8").splitlines()
            records += [_record(cell.dataset, cell.row, cell.seed, json.loads(line)) for line in lines]
    return Results(experiment, records, near)


def near_of(base: Path, dataset: str, part: str) -> dict[tuple[str, str], int]:
    """Return the near negatives that a run counted before it trained, by data set and part."""
    if not base.is_file():
        return {}
    known = json.loads(base.read_text(encoding="utf-8"))
    parts = {"dev": known.get("development", {}), part: known}
    return {(dataset, name): figures[NEAR] for name, figures in parts.items() if NEAR in figures}


def _record(dataset: str, row: str, seed: int, line: dict[str, Any]) -> Record:
    development = {DEVELOPMENT + name: value for name, value in line.get("development", {}).items()}
    measured = {
        name: value["value"]
        for name, value in {**line, **development}.items()
        if isinstance(value, dict) and "value" in value
    }
    figures = {name: float(value) for name, value in measured.items() if value is not None and math.isfinite(value)}
    counts = {"positives": float(line["positives"]), "share_positive": line["positives"] / max(1, line["labels"])}
    sampled = {
        name: (value["low"], value["high"])
        for name, value in line.items()
        if name in figures and value.get("method", EXACT) != EXACT
    }
    method = line.get("average_precision", {}).get("method", EXACT)
    return Record(
        dataset,
        row,
        seed,
        line["round"],
        line["labels"],
        {**figures, **counts},
        line.get("stated", Stated.AS_LISTED),
        line.get("pairs", 0),
        line.get("evaluation_positives", 0),
        method,
        sampled,
    )
